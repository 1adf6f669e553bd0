// A skill's page: the verdict, success against tokens under a threshold, where it helps and harms, its versions.
import { link } from "./addresses.js";
import { get } from "./api.js";
import { breakable, h, overline, responsive, section, sentence, tile } from "./elements.js";
import { helpHarmBar } from "./help_harm_bar.js";
import { age, count, moment, percent, plural, points, signed, solved } from "./numbers.js";
import { bankOption, quoted } from "./shell.js";
import { table } from "./tables.js";
import { taskMap } from "./task_map.js";
import { tradeoffChart } from "./tradeoff_chart.js";
import { blockTone } from "./verdicts.js";

export const skillPage = async ({ name, panel, signal, chooser, frame, early }) => {
  const asked = { skill: name, agent: frame.panel.agent, suite: frame.panel.suite, ...dropEmpty(panel) };
  early(h("div", { class: "waiting", role: "status" }, h("h1", {}, breakable(name)), h("p", { class: "quiet" }, "Deciding every task from the other tasks…")));
  const [found, sweep, map] = await Promise.all(
    ["skill", "sweep", "map"].map((kind) => get(`v1/dashboard/${kind}`, asked, { signal })),
  );
  const { line } = found;
  const state = { threshold: sweep.thresholds[sweep.default], query: null, near: null };
  const drawn = taskMap(map, state);
  const setThreshold = (threshold) => { state.threshold = threshold; drawn.redraw(); };
  return h(
    "div", {},
    h("p", { class: "crumbs small" }, h("a", { href: link("") }, "Overview"), " / skill"),
    h("div", { class: "title" }, h("h1", {}, breakable(name)), chooser),
    verdictBlock(line, found),
    tiles(line),
    section(sweep.tokens.every(Number.isFinite) ? "Success against tokens" : "Success against use", tradeoff(sweep, setThreshold, (threshold) => predictCommand(frame, name, map, threshold))),
    section("Where it helps and where it harms", drawn, families(found.families)),
    section("Tasks that it harmed", harmed(found)),
    section("Versions", versions(found)),
  );
};

const dropEmpty = (query) => Object.fromEntries(Object.entries(query).filter(([, value]) => value));

const verdictBlock = (line, found) => h(
  "div", { class: `verdict ${blockTone(line.verdict)}` },
  overline(`Verdict: ${line.verdict}`),
  h("h2", {}, sentence(line.sentence)),
  h("p", {}, `${found.panel.agent} on ${found.panel.suite}, ${plural(line.pairs, "task")} run with and without it. `,
    h("a", { href: link("try", "", { skill: line.skill }) }, "Try a task with this skill"), " or ",
    h("a", { href: link("decisions", "", { skill: line.skill }) }, "see its decisions"), "."),
);

const tiles = ({ gate, helped, harmed: hurt, pairs, recorded }) => h(
  "div", { class: "tiles" },
  tile(percent(gate.off), "success without it"),
  tile(percent(gate.on), "success with it, always"),
  tile(percent(gate.success), "success with the gate", { own: gate.success > Math.max(gate.off, gate.on) }),
  tile(percent(gate.use_rate, 0), "of tasks use it under the gate"),
  tile(gate.extra_tokens === null ? "–" : `${gate.extra_tokens >= 0 ? "+" : "−"}${count(Math.abs(gate.extra_tokens))}`, "tokens that it adds to a task"),
  tile(`${helped} / ${hurt}`, `helped and harmed, of ${plural(pairs, "task")}`),
  tile(age(recorded), "age of the newest evidence"),
);

// The slider steps through every policy that a threshold can make; all of them were sent with the page. As in the chart,
// always-off is on the left.
const tradeoff = (sweep, setThreshold, commandAt) => {
  let chosen = sweep.default;
  const last = sweep.thresholds.length - 1;
  const chart = responsive((width) => tradeoffChart(sweep, chosen)(width));
  const words = h("output", { class: "readout", for: "threshold-slider" });
  const slider = h("input", { type: "range", id: "threshold-slider", min: 0, max: last, step: 1, value: last - chosen, "aria-describedby": "threshold-note" });
  const command = h("pre", { class: "command" });
  const show = () => {
    const threshold = sweep.thresholds[chosen];
    const cut = threshold === null ? "below every score" : signed(threshold, 3);
    words.replaceChildren(
      fact("threshold", cut), fact("use rate", percent(sweep.use_rates[chosen], 0)), fact("success", percent(sweep.success[chosen])),
      fact("tokens per task", count(sweep.tokens[chosen])), fact("tokens saved", percent(sweep.token_savings[chosen])),
    );
    slider.setAttribute("aria-valuetext", `threshold ${cut}, use rate ${percent(sweep.use_rates[chosen], 0)}, success ${percent(sweep.success[chosen])}`);
    command.textContent = commandAt(threshold);
    chart.redraw();
    setThreshold(threshold === null ? -Infinity : threshold);
  };
  const choose = (index) => { chosen = Math.max(0, Math.min(last, index)); slider.value = last - chosen; show(); };
  slider.addEventListener("input", () => { chosen = last - Number(slider.value); show(); });
  requestAnimationFrame(show);
  return h("div", { class: "tradeoff" },
    chart,
    h("div", { class: "control" },
      h("div", { class: "slide" },
        h("label", { for: "threshold-slider" }, "Threshold"),
        h("span", { class: "quiet small" }, "always off"), slider, h("span", { class: "quiet small" }, "always on")),
      h("button", { type: "button", class: "button", onclick: () => choose(sweep.default) }, "Default"),
      h("button", { type: "button", class: "button", onclick: () => choose(sweep.best) }, "Best in hindsight")),
    words,
    h("p", { class: "quiet small note", id: "threshold-note" }, `Every task is scored from the other tasks alone. The slider steps through ${sweep.thresholds.length < sweep.policies ? `${count(sweep.thresholds.length)} of ` : "all "}${plural(sweep.policies, "policy", "policies")} that some threshold makes on ${plural(sweep.rows, "task")}; full points on the map below follow it. The best in hindsight flatters itself: skilldelta calibrate chooses a threshold and tells its success on held-out tasks.`),
    command);
};

// The shortest recorded text stands for the task, so that the line runs as it is.
const predictCommand = (frame, skill, map, threshold) => {
  const texts = map.points.map((point) => point.text).filter((text) => text && !text.endsWith("…") && !text.startsWith("-")).sort((a, b) => a.length - b.length);
  const { agent, suite } = frame.panel;
  return `skilldelta predict${bankOption(frame)} --agent ${quoted(agent)} --suite ${quoted(suite)} --skill=${quoted(skill)} --threshold ${threshold === null ? "-1" : threshold.toFixed(3)} \\\n  ${quoted(texts[0] ?? "the task's text")}`;
};

const fact = (words, value) => h("span", { class: "fact" }, h("b", {}, value), words);

const EFFECTS = { helps: "helps", harms: "harms", unclear: "not clear" };

const families = (lines) => table([
  { title: "Family", cell: (one) => breakable(one.family), value: (one) => one.family, css: "name" },
  { title: "Tasks", numeric: true, cell: (one) => count(one.pairs), value: (one) => one.pairs },
  { title: "Harmed, unchanged, helped", cell: (one) => [helpHarmBar(one), h("small", {}, `${one.harmed} harmed, ${one.helped} helped`)], css: "bars" },
  { title: "Without", numeric: true, cell: (one) => percent(one.off, 0), value: (one) => one.off },
  { title: "With", numeric: true, cell: (one) => percent(one.on, 0), value: (one) => one.on },
  { title: "Gain, points", numeric: true, cell: (one) => points(one.gain), value: (one) => one.gain },
  { title: "The gate uses it", numeric: true, cell: (one) => `${one.used} of ${one.pairs}`, value: (one) => one.used / one.pairs },
  { title: "Evidence", cell: (one) => h("span", { class: { helps: "good", harms: "bad" }[one.effect] }, EFFECTS[one.effect]), value: (one) => one.effect, hint: "A sign test over the family's tasks, corrected for having looked at every family" },
], lines, { sorted: { title: "Gain, points", descending: false } });

const harmed = ({ harmed: tasks, line }) => {
  if (!tasks.length) return h("p", {}, "No recorded task did worse with the skill.");
  return [
    tasks.length < line.harmed ? h("p", { class: "quiet" }, `The ${tasks.length} worst of ${line.harmed}.`) : null,
    table([
      { title: "Task", cell: (one) => [breakable(one.task_id), one.family ? h("small", {}, one.family) : null], value: (one) => one.task_id, css: "name" },
      { title: "Question", cell: (one) => one.text || "(text not kept)", css: "question" },
      { title: "Without", numeric: true, cell: (one) => solved(one.y0, one.r0), value: (one) => one.y0 },
      { title: "With", numeric: true, cell: (one) => solved(one.y1, one.r1), value: (one) => one.y1 },
      { title: "Predicted gain", numeric: true, cell: (one) => signed(one.predicted), value: (one) => one.predicted },
      { title: "The gate", css: "deed", cell: (one) => h("span", { class: one.used ? "bad" : "good" }, one.used ? "used: harmed" : "skipped: harm avoided"), value: (one) => String(one.used) },
    ], tasks, { sorted: { title: "Predicted gain", descending: true }, css: "tasks", first: 12 }),
  ];
};

const versions = ({ versions: lines, stale }) => [
  lines.length ? table([
    { title: "Version", cell: (one) => [h("code", {}, one.digest ? one.digest.slice(0, 12) : "not recorded"), one.is_current ? h("small", {}, "current") : h("small", {}, "earlier: counts, at a discount, only while the current one has no runs")], css: "name" },
    { title: "Text", numeric: true, cell: (one) => (one.characters === null ? "not in the bank" : plural(one.characters, "character")) },
    { title: "Executions", numeric: true, cell: (one) => count(one.executions) },
    { title: "First recorded", numeric: true, cell: (one) => moment(one.first) },
    { title: "Last recorded", numeric: true, cell: (one) => moment(one.last) },
  ], lines) : h("p", {}, "The executions do not say which version of the skill they were run with."),
  stale ? h("p", { class: "quiet" }, `${plural(stale, "pair")} of older versions count, at a discount, only while the current version has no runs: run its tasks again.`) : null,
];
