// What to do while the bank has no complete pair: shown in place of every page that would have nothing to say.
import { link } from "./addresses.js";
import { h, overline } from "./elements.js";
import { plural } from "./numbers.js";

export const firstSteps = (frame) => h(
  "div", {},
  overline("Start here"),
  h("h1", {}, frame.executions ? "No task was run both ways yet" : "This bank is empty"),
  h("p", { class: "lead" }, frame.executions
    ? `The bank has ${plural(frame.executions, "execution")} of ${plural(frame.tasks, "task")}, but no task with and without a skill. A gain is the difference of the two.`
    : "SkillDelta learns from paired executions: the same agent on the same task, with and without the skill. Add some, and this page fills itself."),
  h("ol", { class: "steps" },
    step("Import results that you have", [
      h("p", {}, "JSONL, JSON, CSV and Parquet files, and results of other tools, such as Inspect logs. One task per line is enough:"),
      h("pre", { class: "command" }, '{"task_id": "t1", "text": "How many cans …", "family": "units", "skill": "warehouse-units", "agent": "my-agent", "y0": [0, 1], "y1": [1, 1]}'),
      h("p", {}, h("a", { class: "button primary", href: link("import") }, "Import files")),
    ]),
    step("Or run your tasks both ways", [
      h("p", {}, "SkillDelta runs a suite with and without the skill, within a budget. See the plan first:"),
      h("pre", { class: "command" }, "skilldelta suite init my-suite\nskilldelta collect my-suite --dry-run"),
    ]),
    step("Or look around with the bundled executions", [
      h("p", {}, "240 tasks and 12 skills, recorded with a small model. Then serve that bank:"),
      h("pre", { class: "command" }, "skilldelta demo --bank demo.bank --no-report\nskilldelta serve --bank demo.bank"),
    ]),
  ),
);

const step = (title, content) => h("li", {}, h("h2", {}, title), content);
