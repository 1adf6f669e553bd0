// Overview: which skills are worth it, what the gate does with them, and how old the evidence is.
import { link } from "./addresses.js";
import { get } from "./api.js";
import { breakable, facts, h, overline, section, tile } from "./elements.js";
import { forestPlot } from "./forest_plot.js";
import { helpHarmBar } from "./help_harm_bar.js";
import { intervalRow, sharedRange } from "./intervals_chart.js";
import { age, ago, count, percent, plural, pointSpread, points } from "./numbers.js";
import { table } from "./tables.js";
import { chip, MEANINGS } from "./verdicts.js";

export const overviewPage = async ({ frame, panel, chooser, early, signal }) => {
  early(atOnce(frame));
  const overview = await get("v1/dashboard/overview", panel, { signal });
  return h(
    "div", {},
    h("div", { class: "title" },
      h("div", {},
        overline("Overview"),
        h("h1", {}, headline(overview.skills)),
        h("p", { class: "quiet" }, `${overview.panel.agent} on ${overview.panel.suite}: ${plural(overview.tasks_in_panel, "task")} in ${plural(overview.families, "family", "families")}, each run with and without the skill.`)),
      chooser),
    h("div", { class: `verdict ${overview.verdict.tone}` }, h("p", { class: "gate-verdict" }, overview.verdict.text)),
    tiles(overview),
    section("Skills by gain", skillTable(overview.skills),
      h("p", { class: "quiet small note" }, "Gain and 95% interval take in what the other skills show, so that many skills do not make one look good by chance. Use rate and tokens saved are what the gate does when every task is decided from the other tasks alone. A dash is unknown, never zero."),
      h("details", {}, h("summary", {}, "What the verdicts mean"), facts(MEANINGS.map(([word, meaning]) => [chip(word), meaning])))),
    section("All gains on one axis", forestPlot(overview.skills, `${overview.panel.agent} on ${overview.panel.suite}`)),
    logSection(overview),
  );
};

// While the tasks are decided one by one from the others: what is known without a prediction.
const atOnce = ({ panel, skills }) => h(
  "div", { class: "waiting", role: "status" },
  overline("Overview"),
  h("h1", {}, plural(skills.length, "skill")),
  h("p", { class: "quiet" }, `${panel.agent} on ${panel.suite}, ${plural(panel.pairs, "pair")}. Every task is being decided from the other tasks, and every skill judged; after a start or an import this takes some seconds, with thousands of tasks up to a minute.`),
  h("p", {}, skills.slice(0, 60).map((name, index) => [index ? ", " : "", h("a", { href: link("skill", name) }, breakable(name))]), skills.length > 60 ? ", …" : ""),
);

const headline = (skills) => {
  const number = (verdict) => skills.filter((one) => one.verdict === verdict).length;
  const parts = [["keep", "to keep"], ["gate", "to gate"], ["drop", "to drop"], ["no effect", "without effect"]]
    .filter(([verdict]) => number(verdict)).map(([verdict, words]) => `${number(verdict)} ${words}`);
  const open = number("not enough evidence");
  if (!parts.length) return open === 1 ? "This skill needs more evidence" : `All ${open} skills need more evidence`;
  const said = `${plural(skills.length, "skill")}: ${parts.join(", ")}`;
  return open ? `${said}, ${open} without enough evidence` : said;
};

const tiles = ({ gate, skills, log, verdict }) => h(
  "div", { class: "tiles" },
  tile(percent(gate.off), "success without skills"),
  tile(percent(gate.on), "success with them, always"),
  tile(percent(gate.success), "success with the gate", { own: verdict.tone === "yes" }),
  tile(percent(gate.use_rate, 0), "of tasks use the skill under the gate"),
  tile(percent(gate.token_saving, 0), "of always-on's tokens saved"),
  tile(newest(skills), "age of the newest evidence"),
  log.decisions ? tile(count(log.decisions), "decisions in the log") : null,
);

const newest = (skills) => {
  const known = skills.map((one) => one.recorded).filter(Number.isFinite);
  return known.length ? age(Math.max(...known)) : "–";
};

const skillTable = (skills) => {
  const range = sharedRange(skills);
  return table([
    { title: "Skill", cell: (one) => [h("a", { href: link("skill", one.skill) }, breakable(one.skill)), h("small", {}, one.families === 1 ? plural(one.pairs, "pair") : `${plural(one.pairs, "pair")}, ${one.families} families`)], value: (one) => one.skill, css: "name" },
    { title: "Verdict", cell: (one) => [chip(one.verdict), h("small", { class: "only-narrow" }, one.sentence)], value: (one) => one.verdict, css: "verdict-cell" },
    { title: "Gain", label: "", cell: (one) => intervalRow(one, range), css: "wide" },
    { title: "Points", numeric: true, css: "points", cell: (one) => [points(one.gain), one.interval ? h("small", {}, pointSpread(one.interval)) : null], value: (one) => one.gain },
    { title: "Tasks", label: "Tasks harmed, unchanged, helped", cell: (one) => [helpHarmBar(one), h("small", {}, `${one.harmed} harmed, ${one.helped} helped`)], css: "bars" },
    { title: "Use rate", numeric: true, cell: (one) => percent(one.gate.use_rate, 0), value: (one) => one.gate.use_rate, hint: "Share of tasks on which the gate uses the skill" },
    { title: "Tokens saved", numeric: true, cell: (one) => percent(one.gate.token_saving, 0), value: (one) => one.gate.token_saving, hint: "Share of always-on's tokens that the gate does not spend" },
    skills.some((one) => one.log.decisions) && { title: "Log", numeric: true, cell: (one) => logged(one.log), value: (one) => one.log.decisions, hint: "Decisions in the log, and how many of them were to use the skill" },
    { title: "Evidence", numeric: true, cell: (one) => age(one.recorded), value: (one) => one.recorded, hint: "Age of the newest execution" },
  ].filter(Boolean), skills, { sorted: { title: "Points", descending: true }, css: "skills" });
};

const logged = (log) => (log.decisions ? [count(log.decisions), h("small", {}, `${percent(log.used / log.decisions, 0)} used`)] : "–");

const logSection = ({ log }) => section(
  "What the gate decided",
  log.decisions
    ? h("p", {}, `The log holds ${plural(log.decisions, "decision")} for this agent: ${count(log.used)} to use the skill (${percent(log.used / log.decisions, 0)}), ${count(log.skipped)} to skip it, ${count(log.abstained)} to abstain. The last one was made ${ago(log.last)}. `,
      log.saved_tokens === null ? null : `Not using skills saved about ${count(log.saved_tokens)} tokens, at the mean number that each skill adds to a recorded task. `,
      h("a", { href: link("decisions") }, "Open the log"))
    : h("p", {}, "No decision is in the log yet. Ask through a harness hook, the API or MCP, or ", h("a", { href: link("try") }, "try a task"), "."),
);
