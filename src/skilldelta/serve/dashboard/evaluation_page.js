// Evaluation: what would the gate have bought on the recorded tasks? Runs as a job; progress comes as it happens, and a
// job that was started before, here or elsewhere, is found again.
import { download, events, get, post, remove, token } from "./api.js";
import { announce, facts, h, overline, replace, section, tile } from "./elements.js";
import { ago, count, decimal, decimalSpread, percent, percentSpread, plural, pointSpread, points } from "./numbers.js";
import { table } from "./tables.js";

const RESAMPLES = [["200", "200 draws, a quick look"], ["1000", "1,000 draws"], ["10000", "10,000 draws, to be quoted"]];

export const evaluationPage = async ({ frame, settings, chooser, signal }) => {
  const panel = { agent: frame.panel.agent, suite: frame.panel.suite };
  const [titles, { jobs }] = await Promise.all([get("v1/dashboard/policies", {}, { signal }), get("v1/jobs", {}, { signal })]);
  const result = h("div", {});
  const progress = h("div", { class: "progress-place" });
  const resamples = h("select", { id: "resamples" }, RESAMPLES.map(([value, words]) => h("option", { value, selected: value === "1000" }, words)));
  const shows = {
    evaluate: (job) => replace(result, made(job, frame.panel), evaluated(job.result, titles, settings.estimator)),
    report: (job) => replace(progress, reportLink(job)),
  };
  const buttons = [
    h("button", { type: "button", class: "button primary", onclick: () => start("evaluate") }, "Evaluate"),
    h("button", { type: "button", class: "button", onclick: () => start("report") }, "Make the full report"),
  ];

  const following = async (kind, started) => {
    for (const button of buttons) button.disabled = true;
    try {
      const job = await finished((await started()).job_id, progress, signal);
      announce(`${kind}: ${job.status}`);
      replace(progress);
      if (job.status === "done") shows[kind](job);
      else replace(progress, stopped(job));
    } catch (error) {
      if (error.name !== "AbortError") replace(progress, h("p", { class: "bad", role: "alert" }, error.message));
    }
    for (const button of buttons) button.disabled = false;
  };
  const start = (kind) => following(kind, () => post("v1/jobs", { kind, options: { ...panel, resamples: Number(resamples.value), shuffles: 0 } }, { signal }));

  const own = jobs.filter((job) => job.options.agent === panel.agent && job.options.suite === panel.suite);
  const ready = own.find((job) => job.kind === "evaluate" && job.status === "done");
  const open = own.find((job) => job.kind in shows && ["queued", "running"].includes(job.status));
  if (ready) shows.evaluate(await get(`v1/jobs/${ready.job_id}`, {}, { signal }));
  if (open) following(open.kind, async () => open);
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

const finished = async (id, place, signal) => {
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const words = h("span", { class: "quiet small" }, "starting");
  const stop = h("button", { type: "button", class: "button", onclick: () => remove(`v1/jobs/${id}`) }, "Cancel");
  replace(place, h("div", { class: "progress" }, bar, words, stop));
  for await (const { data } of events(`v1/jobs/${id}/events`, { signal })) {
    if (data.total) { bar.max = data.total; bar.value = data.done ?? 0; } else bar.removeAttribute("value");
    words.textContent = data.total ? `${data.step}: ${count(data.done)} of ${count(data.total)}` : data.step;
  }
  return get(`v1/jobs/${id}`, {}, { signal });
};

const stopped = (job) => (job.status === "cancelled"
  ? h("p", { class: "quiet", role: "status" }, "Cancelled.")
  : h("p", { class: "bad", role: "alert" }, job.error?.detail ?? "The job failed."));

// A link cannot carry a token, so that where one is needed the report is fetched and saved.
const reportLink = (job) => {
  const path = `v1/jobs/${job.job_id}/report`;
  return h("p", { role: "status" }, "The report is ready. ", token.get()
    ? h("button", { type: "button", class: "link", onclick: () => download(path, "skilldelta-report.html") }, "Save it")
    : h("a", { href: path, target: "_blank", rel: "noopener" }, "Open it in a new tab"));
};

const made = (job, panel) => {
  const isOld = job.result.panels.some((one) => one.pairs !== panel.pairs);
  return h("p", { class: "quiet small" }, `Evaluated ${ago(job.ended)} at the threshold ${job.options.threshold}, with ${plural(job.options.resamples, "draw")}.`,
    isOld ? " The bank has changed since: evaluate again." : "");
};

const evaluated = (found, titles, running) => found.panels.map((panel) => {
  const own = panel.policies[running];
  // In a small panel the verdict rests on held-out fifths, and so do the numbers beside it.
  const value = panel.repeated_folds?.policies[running] ?? own;
  return [
    h("div", { class: `verdict ${panel.headline?.tone ?? "open"}` },
      overline("Should I use the gate here?"), h("h2", {}, panel.headline?.text ?? "No verdict")),
    h("div", { class: "tiles" },
      tile(percent(panel.off), "success without skills"), tile(percent(panel.on), "success with them, always"),
      tile(percent(value?.success), "success with the gate", { own: true }), tile(percent(value?.use_rate, 0), "of tasks use the skill"),
      tile(percent(own?.token_saving, 0), "of always-on's tokens saved"), panel.tasks < 30 ? null : tile(decimal(own?.auroc), "AUROC; 0.5 is a coin"),
      tile(percent(panel.oracle_corrected ?? panel.oracle), panel.oracle_corrected === null ? "if every outcome were known" : "if the better condition of every task were known")),
    section("Every policy on the same tasks", policies(panel, titles, running),
      h("p", { class: "quiet small note" }, "Small print below a number is its 95% interval. A dash is unknown, never zero. Click a heading to sort."),
      h("details", {}, h("summary", {}, "What each policy does"), facts(titles.filter((one) => one.name in panel.policies).map((one) => [one.title, one.meaning]))),
      remarks(panel, titles)),
  ];
});

const remarks = (panel, titles) => {
  const lines = [...panel.notes, ...titles.flatMap((one) => (panel.policies[one.name]?.notes ?? []).map((note) => `${one.title}: ${note}`))];
  return lines.length ? h("details", {}, h("summary", {}, "Remarks"), h("ul", { class: "notes small" }, lines.map((line) => h("li", {}, line)))) : null;
};

const policies = (panel, titles, own) => {
  const rows = titles.filter((one) => one.name in panel.policies).map((one) => ({ ...panel.policies[one.name], name: one.name, title: one.title }));
  const small = (value, spread) => [value, spread ? h("small", {}, spread) : null];
  return table([
    { title: "Policy", cell: (one) => [swatch(one.name), one.title], value: (one) => one.title, css: "name" },
    { title: "Success", numeric: true, cell: (one) => small(percent(one.success), percentSpread(one.intervals.success)), value: (one) => one.success },
    { title: "vs always on", numeric: true, cell: (one) => small(points(one.success_vs_always_on), pointSpread(one.intervals.success_vs_always_on)), value: (one) => one.success_vs_always_on },
    { title: "Use rate", numeric: true, cell: (one) => percent(one.use_rate), value: (one) => one.use_rate },
    { title: "Tokens", numeric: true, cell: (one) => count(one.tokens), value: (one) => one.tokens },
    { title: "Tokens saved", numeric: true, cell: (one) => small(percent(one.token_saving), percentSpread(one.intervals.token_saving)), value: (one) => one.token_saving },
    panel.tasks >= 30 && { title: "AUROC", numeric: true, cell: (one) => small(decimal(one.auroc, 3), decimalSpread(one.intervals.auroc)), value: (one) => one.auroc },
    { title: "Balanced accuracy", numeric: true, cell: (one) => percent(one.balanced_accuracy), value: (one) => one.balanced_accuracy },
  ].filter(Boolean), rows, { rowClass: (one) => (one.name === own ? "own" : null), css: "policies" });
};

// The report's color of a policy; a policy of another package is grey.
const swatch = (name) => {
  const dot = h("span", { class: "swatch" });
  dot.style.background = `var(--c-${name}, var(--c-ink-2))`;
  return dot;
};
