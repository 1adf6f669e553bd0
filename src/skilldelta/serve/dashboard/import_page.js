// Import by drag and drop or by button: what was added, what was there already, and what was refused and why.
import { link } from "./addresses.js";
import { send } from "./api.js";
import { announce, h, overline, replace } from "./elements.js";
import { count, plural } from "./numbers.js";
import { table } from "./tables.js";

const ARMS = [["", "as the file says"], ["use", "with the skill"], ["skip", "without the skill"]];
const LABELS = { agent: "Agent", skill: "Skill", suite: "Suite", condition: "Arm of every run" };

const UNSAID = "the files do not say"; // what the server answers where the fields can help

export const importPage = ({ overview }) => {
  const lines = [];
  const list = h("div", { "aria-live": "polite" });
  const names = Object.fromEntries(["agent", "skill", "suite"].map((name) => [name, h("input", { id: `given-${name}`, autocomplete: "off", placeholder: "as the file says" })]));
  names.condition = h("select", { id: "given-condition" }, ARMS.map(([value, words]) => h("option", { value }, words)));
  const given = h(
    "details", { class: "given" },
    h("summary", {}, "Say what a file does not say"),
    h("div", { class: "fields row" }, Object.entries(names).map(([name, field]) => h("label", { for: field.id }, LABELS[name], field))),
  );
  const draw = () => replace(list, lines.length ? outcome(lines) : null);

  const take = async (files) => {
    for (const file of files) {
      const line = { name: file.name, size: file.size, state: "reading" };
      lines.push(line);
      draw();
      try {
        [line.result] = (await sent(file, names)).sources;
        line.state = "added";
      } catch (error) {
        line.state = "refused";
        line.error = error.message;
        given.open ||= error.message.includes(UNSAID);
      }
      draw();
      announce(`${file.name}: ${line.state}`);
    }
  };

  return h(
    "div", {},
    overline("Import"),
    h("h1", {}, "Add executions to the bank"),
    h("p", { class: "quiet" }, `The bank ${overview.bank} has ${plural(overview.executions, "execution")} of ${plural(overview.tasks, "task")}. A file is added whole or not at all; what is in the bank already is left as it is.`),
    dropZone(take),
    given,
    list,
    formats(),
  );
};

const dropZone = (take) => {
  const input = h("input", { type: "file", id: "files", multiple: true, class: "unseen", onchange: () => { take([...input.files]); input.value = ""; } });
  const zone = h(
    "div", { class: "drop-zone" },
    h("p", { class: "lead" }, "Drop files here"),
    h("p", { class: "quiet" }, "JSONL, JSON, CSV or Parquet; an Inspect log or another tool's result file; a folder of results as a zip or tar archive"),
    input, h("label", { for: "files", class: "button primary" }, "Choose files"),
  );
  const over = (is) => (event) => { event.preventDefault(); zone.classList.toggle("over", is); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => { over(false)(event); take([...event.dataTransfer.files]); });
  return zone;
};

const sent = (file, names) => send(
  "v1/import", { name: file.name, ...Object.fromEntries(Object.entries(names).map(([name, field]) => [name, field.value.trim()])) },
  file, "application/octet-stream",
);

const remarks = ({ error, result }) => {
  if (error) return error.includes(UNSAID) ? [error, "Fill in the fields above, then choose the file again."] : [error];
  const omitted = (result?.left_out ?? []).map((one) => `${plural(one.runs, "run")} not counted: ${one.reason}`);
  return [...(result?.notes ?? []), ...omitted];
};

const outcome = (lines) => [
  table([
    { title: "File", cell: (one) => one.name, css: "name" },
    { title: "Result", cell: (one) => h("span", { class: { added: "good", refused: "bad" }[one.state] ?? "quiet" }, { reading: "reading…", added: "added", refused: "refused" }[one.state]) },
    { title: "New tasks", numeric: true, cell: (one) => count(one.result?.tasks) },
    { title: "New executions", numeric: true, cell: (one) => count(one.result?.executions) },
    { title: "In the bank already", numeric: true, cell: (one) => count(one.result?.known.executions) },
    { title: "Remarks", cell: (one) => remarks(one).map((note) => h("p", { class: "small" }, note)), css: "question" },
  ], lines),
  lines.some((one) => one.state === "added") ? h("p", {}, h("a", { href: link("") }, "See what it says about your skills")) : null,
];

const formats = () => h(
  "details", {},
  h("summary", {}, "What a file looks like"),
  h("p", {}, "The simplest one has a task per line: successes without the skill (y0) and with it (y1), one number per repetition. An empty list means that the task was not run that way; it never counts as a failure."),
  h("pre", { class: "command" }, '{"task_id": "t1", "text": "How many cans …", "family": "units", "skill": "warehouse-units", "agent": "my-agent", "y0": [0, 1], "y1": [1, 1]}'),
  h("p", {}, "The command line reads folders as they are, and asks about arms and scores that another tool names in its own way:"),
  h("pre", { class: "command" }, "skilldelta import results/"),
);
