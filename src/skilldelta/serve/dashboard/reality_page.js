// Reality: what the gate predicted beside what happened, from the outcomes in the log; drawn anew when outcomes arrive.
import { link } from "./addresses.js";
import { download, get } from "./api.js";
import { announce, breakable, h, overline, replace, section } from "./elements.js";
import { count, moment, percent, plural, pointSpread, points } from "./numbers.js";
import { outcomesChart } from "./outcomes_chart.js";
import { decideCommand, outcomeCommand } from "./shell.js";
import { table } from "./tables.js";

const LOOK_EVERY = 5_000; // milliseconds
const PERIODS = [["", "any time"], ["1", "last 24 hours"], ["7", "last 7 days"], ["30", "last 30 days"], ["365", "last year"]];
const ACTIONS = { use: "used", skip: "skipped" };
const FILTERS = ["skill", "by", "action", "days"];

export const realityPage = async ({ query, frame, signal }) => {
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const asked = () => ({
    skill: chosen.skill, agent: chosen.by, action: chosen.action,
    since: chosen.days ? Math.floor(Date.now() / 1000) - Number(chosen.days) * 86_400 : "",
  });
  const read = () => get("v1/dashboard/reality", asked(), { signal });
  const agreement = h("div", {});
  const outcomes = h("div", {});
  const choices = h("div", {});
  const body = h("div", {});
  let offered = "";
  let state = await read();
  const draw = () => {
    if (!state.outcomes) return replace(body, nothing(frame));
    if (!agreement.isConnected) replace(body, agreement, section("Used and skipped over time", choices, outcomes));
    replace(agreement, verdict(state), state.skills.length ? section("Skill by skill", skillTable(state)) : null);
    const names = JSON.stringify([state.skills.map((one) => one.skill), state.agents]);
    if (names !== offered) replace(choices, filters(state, chosen)); // an open list is not closed for nothing
    offered = names;
    return replace(outcomes, shown(state, asked));
  };
  draw();
  follow(read, signal, (newer) => {
    if (newer.mark === state.mark) return;
    const more = newer.outcomes - state.outcomes;
    state = newer;
    draw();
    announce(`${plural(Math.max(more, 0), "new outcome")}`);
  });
  return h(
    "div", {},
    overline("Reality"),
    h("h1", {}, "Did it happen as predicted?"),
    h("p", { class: "quiet" }, "Outcomes that were reported for decisions in the log, of all agents and suites. The page looks for new ones every five seconds."),
    body,
  );
};

// Look again while the page is open and seen. A server that is away for a moment is asked again.
const follow = (read, signal, tell) => {
  const timer = setInterval(async () => {
    if (document.hidden) return;
    try { tell(await read()); } catch { /* the next look may find it */ }
  }, LOOK_EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
};

const more = (direction) => (direction > 0 ? "more often" : "less often");

const verdict = ({ sentence, whole, skills, level, left_out: leftOut }) => {
  const alarms = skills.filter((one) => one.state === "parts");
  const isAlarm = whole.state === "parts";
  const tone = isAlarm || alarms.length ? "no" : whole.state === "agrees" ? "yes" : "open";
  return h(
    "div", { class: `verdict ${tone}`, id: "agreement" },
    overline(tone === "no" ? "Alarm" : "Agreement"),
    h("h2", {}, sentence),
    whole.outcomes ? h("p", {}, `Predicted ${percent(whole.predicted)}, observed ${percent(whole.observed)}: ${points(whole.difference)} points (${pointSpread(whole.interval)}), from ${plural(whole.outcomes, "outcome")}.`,
      isAlarm ? ` It was clear on ${moment(whole.alarm_time)}.` : "") : null,
    alarms.map((one) => h("p", {}, h("a", { href: link("skill", one.skill) }, breakable(one.skill)),
      `: succeeds ${more(one.direction)} than predicted, ${points(one.difference)} points (${pointSpread(one.interval)}), clear on ${moment(one.alarm_time)}.`)),
    h("p", { class: "small" }, `The chance of any false alarm on this page is at most ${percent(1 - level, 0)}, however often and long you look. `,
      whole.outcomes ? `A difference of up to ${points(whole.margin, 1).replace("+", "")} points counts as agreement: so much the number of recorded tasks leaves open, and 5 points in any case. ` : "",
      "A task that comes again counts once. Only reported outcomes are seen: if failures are reported more often than successes, it shows here.",
      leftOut.length ? ` Left out: ${leftOut.map((one) => `${count(one.outcomes)} (${one.reason})`).join(", ")}.` : ""),
  );
};

const STATES = { parts: "parts", agrees: "agrees", open: "no alarm, not settled" };
const stateWords = (one) => (one.state === "parts" ? `parts, ${one.direction > 0 ? "better" : "worse"} than predicted` : STATES[one.state]);

const skillTable = ({ skills }) => [
  table([
    { title: "Skill", cell: (one) => [h("a", { href: link("reality", "", { skill: one.skill }) }, breakable(one.skill)), one.repeated ? h("small", {}, `${plural(one.repeated, "repeated outcome")} not counted`) : null], value: (one) => one.skill, css: "name" },
    { title: "Outcomes", numeric: true, cell: (one) => count(one.outcomes), value: (one) => one.outcomes },
    { title: "Predicted", numeric: true, cell: (one) => percent(one.predicted), value: (one) => one.predicted },
    { title: "Observed", numeric: true, cell: (one) => percent(one.observed), value: (one) => one.observed },
    { title: "Difference, points", numeric: true, cell: (one) => [points(one.difference), h("small", {}, pointSpread(one.interval))], value: (one) => one.difference },
    { title: "Agreement within", numeric: true, cell: (one) => `±${points(one.margin, 0).replace("+", "")}`, value: (one) => one.margin },
    { title: "State", cell: (one) => h("span", { class: { parts: "bad", agrees: "good" }[one.state] ?? "quiet" }, stateWords(one)), value: stateWords },
  ], skills, { sorted: { title: "Outcomes", descending: true }, first: 20 }),
  h("p", { class: "quiet small note" }, "The intervals hold for all skills together and at every look, so they are wider than those of a single study."),
];

const shown = (state, asked) => [
  state.actions.length ? h("div", { class: "tiles" }, state.actions.map((one) => h("div", { class: "tile" },
    h("b", {}, percent(one.observed)),
    h("span", {}, `succeeded where the skill was ${ACTIONS[one.action]} (${percent(one.low, 0)} to ${percent(one.high, 0)}); predicted ${percent(one.predicted)}; ${plural(one.number, "outcome")}`)))) : h("p", {}, "No outcome fits these filters. ", h("a", { href: clear() }, "Clear them")),
  ["use", "skip"].map((action) => {
    const periods = state.periods.filter((one) => one.action === action);
    return periods.length ? h("figure", { class: "outcomes" }, h("h3", {}, `Where the skill was ${ACTIONS[action]}`), outcomesChart(periods)) : null;
  }),
  h("p", { class: "quiet small note" }, "Used and skipped tasks are different tasks: the gate chose them. Their difference is therefore not the gain of the skill; compare each with its own prediction."),
  h("p", {}, h("button", { type: "button", class: "button", onclick: () => download(`v1/dashboard/reality.csv?${new URLSearchParams(Object.entries(asked()).filter(([, value]) => value !== ""))}`, "skilldelta-outcomes.csv") }, `Save ${plural(state.shown, "outcome")} as CSV`)),
];

const clear = () => link("reality", "", Object.fromEntries(FILTERS.map((name) => [name, ""])));

const filters = (state, chosen) => {
  const go = (change) => { location.hash = link("reality", "", { ...chosen, ...change }); };
  const skills = [...new Set([...state.skills.map((one) => one.skill), chosen.skill])].filter(Boolean).sort((a, b) => a.localeCompare(b));
  const agents = [...new Set([...state.agents, chosen.by])].filter(Boolean);
  const choice = (name, label, options) => h("label", {}, label, h(
    "select", { name, onchange: (event) => go({ [name]: event.target.value }) },
    options.map(([value, words]) => h("option", { value, selected: value === chosen[name] }, words)),
  ));
  return h("form", { class: "filters", onsubmit: (event) => event.preventDefault() },
    choice("skill", "Skill", [["", "all skills"], ...skills.map((name) => [name, name])]),
    choice("action", "Action", [["", "used and skipped"], ["use", "used"], ["skip", "skipped"]]),
    agents.length > 1 ? choice("by", "Agent", [["", "all agents"], ...agents.map((name) => [name, name])]) : null,
    choice("days", "Period", PERIODS));
};

const nothing = (frame) => h(
  "div", { class: "empty" },
  h("h2", {}, "No outcome was reported yet"),
  h("p", {}, "Report what happened after a decision, by the id that came with it. ", h("a", { href: link("decisions") }, "The log"), " has the decisions and their ids; for the last conversation of a harness on this machine, ", h("code", {}, "skilldelta record --last success"), " needs no id. Over HTTP:"),
  h("pre", { class: "command" }, frame.decisions ? outcomeCommand(1) : `${decideCommand(frame)}\n${outcomeCommand(1)}`),
);
