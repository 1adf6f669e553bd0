// Try it: one task, one skill, the decision with everything it rests on. Nothing is written to the log.
import { link } from "./addresses.js";
import { get, post } from "./api.js";
import { announce, breakable, h, overline, replace, section, sentence, tile } from "./elements.js";
import { gainScale } from "./intervals_chart.js";
import { count, decimal, percent, plural, points, shorten, signed, solved } from "./numbers.js";
import { skillRanking } from "./skill_ranking.js";
import { table } from "./tables.js";
import { taskMap } from "./task_map.js";

const HEADINGS = { use: "Use the skill", skip: "Skip the skill", abstain: "No decision: the evidence does not settle it" };
const TONES = { use: "yes", skip: "calm", abstain: "open" };

export const tryPage = async ({ query, frame, settings, signal, chooser }) => {
  const skills = frame.skills;
  const panel = { agent: frame.panel.agent, suite: frame.panel.suite };
  const form = fields(skills, query.get("skill"), settings.threshold);
  const result = h("div", { class: "result", "aria-live": "polite" });
  const ranking = skillRanking(skills, panel, signal, (name) => { form.choose(name); ask(); });
  let asking = new AbortController();

  const ask = async () => {
    asking.abort();
    asking = new AbortController();
    const asked = form.question();
    if (!asked.text.trim()) return form.complain("Type a task first: the text that the agent would see.");
    form.complain("");
    result.setAttribute("aria-busy", "true");
    try {
      const at = { signal: AbortSignal.any([signal, asking.signal]) };
      const about = asked.skill ? null : await whichSkill(asked, skills, panel, at);
      if (about && !about.skill) {
        replace(result, h("div", { class: "verdict calm" }, h("h2", {}, about.heading), h("p", {}, about.words)));
        announce(`${about.heading}. ${about.words}`);
        result.removeAttribute("aria-busy");
        return null;
      }
      if (about) asked.skill = about.skill;
      const [answer, map] = await Promise.all([
        post("v1/dashboard/try", { ...asked, ...panel }, at),
        get("v1/dashboard/map", { skill: asked.skill, ...panel }, at).catch(() => null), // no pair, no map
      ]);
      replace(result, about ? h("p", { class: "about" }, about.words) : null, answered(answer, map));
      history.replaceState(null, "", link("try", "", { skill: asked.skill }));
      announce(`${HEADINGS[answer.decision.action]}. ${answer.decision.reason}`);
    } catch (error) {
      if (error.name !== "AbortError") replace(result, h("div", { class: "verdict no", role: "alert" }, h("h2", {}, error.message)));
    }
    result.removeAttribute("aria-busy");
    return null;
  };

  form.onAsk(ask);
  if (skills.length > 1) form.onText(ranking.typed);
  const suggest = async () => {
    if (!form.skill()) return form.suggest([]);
    try { form.suggest(examples(await get("v1/dashboard/map", { skill: form.skill(), ...panel }, { signal }))); } catch { form.suggest([]); }
  };
  form.onSkill(suggest);
  await suggest();
  return h(
    "div", {},
    h("div", { class: "title" },
      h("div", {}, overline("Try it"), h("h1", {}, "Would this skill help on this task?"),
        h("p", { class: "quiet" }, "Ask as an agent would. The answer is the one that the API, the hooks and the command line give; nothing is written to the log.")),
      chooser),
    form.element, ranking.element, result,
  );
};

// Which of all skills a harness would ask about, if any: the same judgment as /v1/choose.
const whichSkill = async (asked, skills, panel, at) => {
  const body = { text: asked.text, skills, ...panel, record: false };
  const { any_applies: any, decisions } = await post("v1/choose", body, at);
  const [best] = [...decisions].sort((a, b) => (b.applies ?? 0) - (a.applies ?? 0));
  if (any !== null && any < 0.5) return { skill: null, heading: "No skill applies", words: `${sentence(best.reason)} Nothing is injected, and nothing is denied.` };
  return { skill: best.skill, words: `Of ${plural(skills.length, "skill")} the task is about ${best.skill}${best.applies === undefined ? "" : ` (${percent(best.applies)})`}.` };
};

const fields = (skills, chosen, running) => {
  const task = h("textarea", { id: "task", rows: 4, placeholder: "The task as the agent would see it", spellcheck: "true", maxlength: 100_000 });
  const skill = h("select", { id: "skill" },
    skills.map((name) => h("option", { value: name, selected: name === chosen }, name)),
    skills.length > 1 ? h("option", { value: "" }, `any of the ${skills.length}, as in a harness`) : null);
  const family = h("input", { id: "family", placeholder: "unknown", autocomplete: "off" });
  const threshold = h("input", { id: "threshold", type: "number", min: -1, max: 1, step: "any", value: running });
  const hint = h("p", { class: "quiet small suggestions" });
  const trouble = h("p", { class: "bad", role: "alert" });
  let example = null;
  let ask = () => {};
  const fill = (one) => { example = one; task.value = one.text; family.value = ""; ask(); };
  task.addEventListener("input", () => { example = null; });
  task.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); ask(); } });
  const element = h(
    "form", { class: "ask", onsubmit: (event) => { event.preventDefault(); ask(); } },
    h("div", { class: "fields" },
      h("label", { class: "grow", for: "task" }, "Task", task),
      h("div", { class: "side" },
        h("label", { for: "skill" }, "Skill", skill),
        h("label", { for: "family" }, "Family, if you know it", family),
        h("label", { for: "threshold" }, "Threshold", threshold))),
    hint, trouble,
    h("p", {}, h("button", { class: "button primary" }, "Decide"), h("span", { class: "quiet small keys shortcut" }, "or Ctrl + Enter")),
  );
  return {
    element,
    skill: () => skill.value,
    question: () => ({
      text: task.value, skill: skill.value, family: family.value.trim(), task_id: example?.task_id ?? "",
      threshold: Number.isFinite(threshold.valueAsNumber) ? threshold.valueAsNumber : running,
    }),
    complain: (words) => { trouble.textContent = words; if (words) task.focus(); },
    onAsk: (action) => { ask = action; },
    onText: (action) => task.addEventListener("input", () => action(task.value)),
    choose: (name) => { skill.value = name; },
    onSkill: (action) => skill.addEventListener("change", action),
    suggest: (found) => replace(hint, found.length ? "Recorded tasks, asked as if they were new: " : null, found.map((one) => h(
      "button", { type: "button", class: "link", title: one.text, onclick: () => fill(one) }, shorten(one.text, 90),
    ))),
  };
};

// Three recorded tasks, chosen by their predictions: the highest, the one nearest to zero, the lowest.
const examples = (map) => {
  const known = map.points.filter((point) => point.predicted !== null && point.text && !point.text.endsWith("…"));
  const sorted = [...known].sort((a, b) => b.predicted - a.predicted);
  const middle = [...known].sort((a, b) => Math.abs(a.predicted) - Math.abs(b.predicted))[0];
  return [...new Set([sorted[0], middle, sorted.at(-1)])].filter(Boolean);
};

const answered = (answer, map) => {
  const { decision } = answer;
  const near = new Map(decision.neighbors.map((one) => [one.task_id, one.weight]));
  const state = { threshold: decision.threshold, query: answer.place, near };
  return [
    h("div", { class: `verdict ${TONES[decision.action]}` },
      overline(`Decision: ${decision.action}, ${decision.certainty ?? "without evidence"}`),
      h("h2", {}, HEADINGS[decision.action]),
      h("p", {}, sentence(decision.reason)),
      gainScale(decision),
      h("dl", {},
        decision.basis ? [h("dt", {}, "Rests on"), h("dd", {}, decision.basis.sentence)] : null,
        h("dt", {}, "Familiarity"), h("dd", {}, sentence(answer.familiarity)),
        answer.interval ? [h("dt", {}, "How sure"), h("dd", {}, sentence(answer.interval))] : null,
        h("dt", {}, "What would change it"), h("dd", {}, h("ul", { class: "notes" }, answer.would_change.map((line) => h("li", {}, line)))))),
    h("div", { class: "tiles" },
      tile(points(decision.gain), "points of predicted gain", { own: decision.action === "use" }),
      tile(decision.interval ? `${points(decision.interval.low, 0)} to ${points(decision.interval.high, 0)}` : "–", decision.interval ? `points, ${percent(decision.interval.level, 0)} interval` : "no interval"),
      tile(percent(decision.support.familiarity, 0), "familiarity"),
      tile(count(decision.support.eligible), `pairs in scope (${decision.scope})`),
      decision.explanation?.chance ? tile(percent(decision.explanation.chance.help, 0), "chance that it helps this time") : null,
      decision.explanation?.chance ? tile(percent(decision.explanation.chance.harm, 0), "chance that it harms this time") : null,
      decision.explanation?.cost ? tile(signedCount(decision.explanation.cost.tokens), "tokens that it would add") : null),
    answer.place && map ? section("Where the task stands", taskMap(map, state, { extra: answer.nearest })) : null,
    section(`The ${plural(decision.neighbors.length, "nearest pair")}`, neighbors(decision)),
  ];
};

const signedCount = (value) => (value === null ? "–" : `${value >= 0 ? "+" : "−"}${count(Math.abs(value))}`);

const neighbors = (decision) => {
  if (!decision.neighbors.length) return h("p", {}, "No recorded pair is in scope.");
  return [
    decision.basis && decision.settings_choose === "neighbors" ? h("p", { class: "quiet small" }, decision.basis.neighbors >= 0.005 ? `These make up ${percent(decision.basis.neighbors, 0)} of the answer.` : "These are shown for comparison: they have no part in the answer.") : null,
    table([
      { title: "Task", cell: (one) => breakable(one.task_id), css: "name" },
      { title: "Question", cell: (one) => shorten(one.text, 240), css: "question" },
      { title: "Similarity", numeric: true, cell: (one) => decimal(one.similarity), value: (one) => one.similarity },
      { title: "Without", numeric: true, cell: (one) => solved(one.y0, one.r0), value: (one) => one.y0 },
      { title: "With", numeric: true, cell: (one) => solved(one.y1, one.r1), value: (one) => one.y1 },
      { title: "Gain", numeric: true, cell: (one) => h("span", { class: one.gain > 0 ? "good" : one.gain < 0 ? "bad" : null }, signed(one.gain)), value: (one) => one.gain },
    ], decision.neighbors, { sorted: { title: "Similarity", descending: true }, css: "tasks" }),
  ];
};
