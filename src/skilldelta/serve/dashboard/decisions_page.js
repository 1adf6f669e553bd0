// The decision log: newest first, filtered and searched by the server, one page at a time; and one decision by itself.
import { link } from "./addresses.js";
import { get, Problem } from "./api.js";
import { breakable, facts, h, overline, replace, section, sentence } from "./elements.js";
import { gainScale } from "./intervals_chart.js";
import { DASH, ago, count, decimal, moment, percent, plural, pointSpread, shorten, signed, solved } from "./numbers.js";
import { decideCommand } from "./shell.js";
import { table } from "./tables.js";
import { blockTone, chip } from "./verdicts.js";

const PAGE = 50;
const PERIODS = [["", "any time"], ["1", "last 24 hours"], ["7", "last 7 days"], ["30", "last 30 days"], ["365", "last year"]];
const FILTERS = ["skill", "action", "by", "days", "q"];

export const decisionsPage = async ({ query, frame, signal }) => {
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const list = h("div", {});
  await show(list, chosen, frame, signal);
  return h(
    "div", {},
    overline("Decisions"),
    h("h1", {}, "What did the gate decide, and why?"),
    filters(chosen, frame),
    list,
  );
};

const asked = ({ skill, action, by, days, q }) => ({
  limit: PAGE, skill, action, agent: by, q, since: days ? Date.now() / 1000 - Number(days) * 86_400 : "",
});

const show = async (list, chosen, frame, signal) => {
  const found = await get("v1/decisions", asked(chosen), { signal });
  const rows = found.decisions;
  if (!rows.length) return replace(list, nothing(chosen, frame));
  const body = h("div", {}, log(rows));
  const more = h("p", {});
  const older = (next) => replace(more, next === null ? h("span", { class: "quiet small" }, `${plural(rows.length, "decision")} shown, no older ones.`) : [
    h("button", { type: "button", class: "button", onclick: async () => {
      const page = await get("v1/decisions", { ...asked(chosen), before: next }, { signal });
      rows.push(...page.decisions);
      replace(body, log(rows));
      older(page.next);
    } }, "Show older"), h("span", { class: "quiet small keys" }, `${plural(rows.length, "decision")} shown`)]);
  older(found.next);
  return replace(list, body, more);
};

const nothing = (chosen, frame) => (FILTERS.some((name) => chosen[name])
  ? h("p", { class: "empty" }, "No decision fits these filters. ", h("a", { href: clear() }, "Clear them"))
  : h("div", { class: "empty" },
    h("h2", {}, "No decision is in the log yet"),
    h("p", {}, "Decisions come here when an agent asks: through a harness hook, through MCP, or over HTTP. Pages of this dashboard write none. Ask once from a terminal:"),
    h("pre", { class: "command" }, decideCommand(frame))));

const clear = () => link("decisions", "", Object.fromEntries(FILTERS.map((name) => [name, ""])));

const filters = (chosen, frame) => {
  const skills = [...new Set([...frame.skills, chosen.skill])].filter(Boolean).sort((a, b) => a.localeCompare(b));
  const names = frame.panels.map((one) => one.agent.replace(/@[0-9a-f]{8}$/, "")); // the log knows agents by name
  const agents = [...new Set([...names, chosen.by])].filter(Boolean);
  const go = (change) => { location.hash = link("decisions", "", { ...chosen, ...change }); };
  const choice = (name, label, options) => h("label", {}, label, h(
    "select", { name, onchange: (event) => go({ [name]: event.target.value }) },
    options.map(([value, words]) => h("option", { value, selected: value === chosen[name] }, words)),
  ));
  const search = h("input", { type: "search", name: "q", value: chosen.q, placeholder: "reason, task, id" });
  return h(
    "form", { class: "filters", role: "search", onsubmit: (event) => { event.preventDefault(); go({ q: search.value.trim() }); } },
    choice("skill", "Skill", [["", "all skills"], ...skills.map((name) => [name, name])]),
    choice("action", "Action", [["", "all"], ["use", "use"], ["skip", "skip"], ["abstain", "abstain"]]),
    agents.length > 1 ? choice("by", "Agent", [["", "all agents"], ...agents.map((name) => [name, name])]) : null,
    choice("days", "Period", PERIODS),
    h("label", { class: "grow" }, "Search", search),
    h("button", { class: "button" }, "Search"),
  );
};

const log = (rows) => table([
  { title: "When", cell: (one) => [h("a", { href: link("decision", one.decision_id) }, ago(one.time)), h("small", {}, moment(one.time))], css: "name" },
  { title: "Skill", cell: (one) => [breakable(one.skill), one.source ? h("small", {}, one.source) : null], css: "name" },
  { title: "Action", cell: (one) => chip(one.action), css: "action-cell" },
  { title: "Certainty", cell: (one) => one.certainty ?? "–" },
  { title: "Gain", numeric: true, cell: (one) => signed(one.gain) },
  { title: "Task", cell: (one) => taskWords(one), css: "question" },
  { title: "Reason", cell: (one) => one.reason, css: "question" },
  { title: "Outcome", cell: outcomeWords },
], rows, { css: "log" });

// The log keeps the text, a digest of it, or nothing, as the server was told.
const taskWords = (one) => {
  if (one.text) return shorten(one.text, 120);
  if (one.task_id) return one.task_id;
  if (one.recorded_task) return h("span", { title: "The log keeps a digest of the text, which is that of this recorded task" }, breakable(one.recorded_task));
  return one.text_digest ? h("code", { title: "The log keeps a digest of the text only" }, one.text_digest.slice(0, 12)) : h("span", { class: "quiet" }, "not kept");
};

const outcomeWords = (one) => {
  // Tokens often arrive by themselves after the success; they do not hide it.
  const last = one.outcomes?.findLast((outcome) => outcome.success !== null) ?? one.outcomes?.at(-1);
  if (!last) return h("span", { class: "quiet" }, "–");
  const words = last.success === null ? "recorded" : last.success === 1 ? "success" : last.success === 0 ? "failure" : decimal(last.success);
  return h("span", { class: last.success === 1 ? "good" : last.success === 0 ? "bad" : null }, words);
};

export const decisionPage = async ({ name, signal }) => {
  if (!/^[1-9]\d{0,17}$/.test(name)) throw new Problem(404, "Not Found", `decisions have numbers; there is none called ${name || "that"}`);
  const found = await get(`v1/decisions/${encodeURIComponent(name)}`, {}, { signal });
  return h(
    "div", {},
    h("p", { class: "crumbs small" }, h("a", { href: link("decisions") }, "Decisions"), ` / ${found.decision_id}`),
    h("h1", {}, `Decision ${found.decision_id}`),
    h("div", { class: `verdict ${blockTone(found.action)}` },
      overline(`Decision: ${found.action}, ${found.certainty ?? "without evidence"}`), h("h2", {}, sentence(found.reason)), gainScale(found)),
    facts([
      ["When", moment(found.time)], ["Skill", h("a", { href: link("skill", found.skill) }, found.skill)],
      ["Agent", found.agent], ["Asked by", found.source], ["Task", taskWords(found)], ["Family", found.family], ["Suite", found.suite],
      ["Predicted gain", signed(found.gain, 3)], ["Threshold", signed(found.threshold, 3)],
      ["Interval", found.interval ? `${pointSpread(found.interval)} points, ${percent(found.interval.level, 0)}` : ""],
      ["Estimator", found.estimator], ["Scope", found.scope],
    ]),
    section("What happened", outcomes(found.outcomes ?? [])),
    section("The evidence it rested on", evidence(found.neighbors ?? [])),
  );
};

const outcomes = (found) => (found.length ? table([
  { title: "When", cell: (one) => moment(one.time), css: "name" },
  { title: "Success", numeric: true, cell: (one) => decimal(one.success) },
  { title: "Tokens", numeric: true, cell: (one) => count(one.tokens) },
  { title: "Seconds", numeric: true, cell: (one) => decimal(one.seconds, 1) },
  { title: "Dollars", numeric: true, cell: (one) => decimal(one.cost_usd, 4) },
], found) : h("p", {}, "No outcome was recorded for this decision."));

const evidence = (found) => (found.length ? table([
  { title: "Task", cell: (one) => breakable(one.task_id), css: "name" },
  { title: "Question", cell: (one) => shorten(one.text ?? "", 240), css: "question" },
  { title: "Weight", numeric: true, cell: (one) => decimal(one.weight) },
  { title: "Without", numeric: true, cell: (one) => (one.r0 ? solved(one.y0, one.r0) : DASH) },
  { title: "With", numeric: true, cell: (one) => (one.r1 ? solved(one.y1, one.r1) : DASH) },
  { title: "Gain", numeric: true, cell: (one) => signed(one.gain) },
], found, { css: "tasks" }) : h("p", {}, "It rested on no recorded pair."));
