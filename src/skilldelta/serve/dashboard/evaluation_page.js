// Evaluation: what would the gate have bought on the recorded tasks? Runs as a job; progress comes as it happens.
import { events, get, post, remove } from "./api.js";
import { announce, h, overline, replace, section, tile } from "./elements.js";
import { count, decimal, decimalSpread, percent, percentSpread, pointSpread, points } from "./numbers.js";
import { table } from "./tables.js";

const RESAMPLES = [["200", "200 draws, a quick look"], ["1000", "1,000 draws"], ["10000", "10,000 draws, for publication"]];
let last = null; // the last finished evaluation of this visit

export const evaluationPage = ({ overview, chooser, signal }) => {
  const result = h("div", {});
  const progress = h("div", { class: "progress-place" });
  const resamples = h("select", { id: "resamples" }, RESAMPLES.map(([value, words]) => h("option", { value, selected: value === "1000" }, words)));
  const panel = { agent: overview.panel.agent, suite: overview.panel.suite };
  const options = () => ({ ...panel, resamples: Number(resamples.value) });
  const buttons = [
    h("button", { type: "button", class: "button primary", onclick: () => start("evaluate", (job) => { last = { panel, job }; replace(result, evaluated(job)); }) }, "Evaluate"),
    h("button", { type: "button", class: "button", onclick: () => start("report", (job) => replace(progress, reportLink(job))) }, "Make the full report"),
  ];

  const start = async (kind, done) => {
    for (const button of buttons) button.disabled = true;
    try {
      const job = await run(kind, options(), progress, signal);
      if (job) done(job);
    } catch (error) {
      if (error.name !== "AbortError") replace(progress, h("p", { class: "bad", role: "alert" }, error.message));
    }
    for (const button of buttons) button.disabled = false;
  };

  if (last && last.panel.agent === panel.agent && last.panel.suite === panel.suite) replace(result, evaluated(last.job));
  return h(
    "div", {},
    h("div", { class: "title" },
      h("div", {}, overline("Evaluation"), h("h1", {}, "What would the gate have bought?"),
        h("p", { class: "quiet" }, `Every recorded task of ${panel.agent} on ${panel.suite} is decided from the other tasks alone, by every policy, and compared with what really happened.`)),
      chooser),
    h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
      h("label", { for: "resamples" }, "Intervals", resamples), buttons),
    progress, result,
  );
};

const run = async (kind, options, place, signal) => {
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const words = h("span", { class: "quiet small" }, "starting");
  const { job_id: id } = await post("v1/jobs", { kind, options }, { signal });
  const stop = h("button", { type: "button", class: "button", onclick: () => remove(`v1/jobs/${id}`) }, "Cancel");
  replace(place, h("div", { class: "progress", role: "group", "aria-label": "Job" }, bar, words, stop));
  for await (const { data } of events(`v1/jobs/${id}/events`, { signal })) {
    if (data.total) { bar.max = data.total; bar.value = data.done ?? 0; } else bar.removeAttribute("value");
    words.textContent = [data.step, data.total ? `${count(data.done)} of ${count(data.total)}` : ""].filter(Boolean).join(", ");
  }
  const job = await get(`v1/jobs/${id}`, {}, { signal });
  replace(place);
  announce(`${kind} ${job.status}`);
  if (job.status === "done") return { ...job, id };
  replace(place, h("p", { class: job.status === "cancelled" ? "quiet" : "bad", role: "alert" }, job.status === "cancelled" ? "Cancelled." : job.error?.detail ?? "The job failed."));
  return null;
};

const reportLink = (job) => h("p", {}, "The report is ready. ", h("a", { href: `v1/jobs/${job.id}/report`, target: "_blank", rel: "noopener" }, "Open it in a new tab"), ".");

const evaluated = ({ result }) => result.panels.map((panel) => [
  h("div", { class: `verdict ${panel.verdict?.tone ?? "open"}` },
    overline("Should I use the gate here?"), h("h2", {}, panel.verdict?.headline ?? "No verdict")),
  h("div", { class: "tiles" },
    tile(percent(panel.off), "success without skills"), tile(percent(panel.on), "success with them, always"),
    tile(percent(panel.policies.stack?.success ?? panel.policies.skilldelta?.success), "success with the gate", { own: true }),
    tile(percent(panel.oracle), "if every outcome were known"), tile(count(panel.pairs), "pairs")),
  section("Every policy on the same tasks", policies(panel),
    h("p", { class: "quiet small" }, "Small print below a number is its 95% interval. A dash is unknown, never zero. Click a heading to sort."),
    panel.notes.length ? h("ul", { class: "notes quiet small" }, panel.notes.map((note) => h("li", {}, note))) : null),
]);

const policies = (panel) => {
  const rows = Object.entries(panel.policies).map(([name, one]) => ({ name, ...one }));
  const own = panel.policies.stack ? "stack" : "skilldelta";
  const small = (value, spread) => [value, spread ? h("small", {}, spread) : null];
  const swatch = (name) => h("span", { class: `swatch policy-${name}` });
  return table([
    { title: "Policy", cell: (one) => [swatch(one.name), one.title ?? one.name], value: (one) => one.name, css: "name" },
    { title: "Success", numeric: true, cell: (one) => small(percent(one.success), percentSpread(one.intervals.success)), value: (one) => one.success },
    { title: "vs always on", numeric: true, cell: (one) => small(points(one.success_vs_always_on), pointSpread(one.intervals.success_vs_always_on)), value: (one) => one.success_vs_always_on },
    { title: "Use rate", numeric: true, cell: (one) => percent(one.use_rate), value: (one) => one.use_rate },
    { title: "Tokens", numeric: true, cell: (one) => count(one.tokens), value: (one) => one.tokens },
    { title: "Tokens saved", numeric: true, cell: (one) => small(percent(one.token_saving), percentSpread(one.intervals.token_saving)), value: (one) => one.token_saving },
    { title: "AUROC", numeric: true, cell: (one) => small(decimal(one.auroc, 3), decimalSpread(one.intervals.auroc)), value: (one) => one.auroc },
    { title: "Balanced accuracy", numeric: true, cell: (one) => percent(one.balanced_accuracy), value: (one) => one.balanced_accuracy },
  ], rows, { sorted: { title: "Success", descending: true }, rowClass: (one) => (one.name === own ? "own" : null), css: "policies" });
};
