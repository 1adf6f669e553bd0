// All skills ranked for one task, as one types: how likely the task is about each, and the gain that the gate predicts then.
import { post } from "./api.js";
import { breakable, h, replace } from "./elements.js";
import { percent, plural, points, pointSpread } from "./numbers.js";
import { table } from "./tables.js";
import { chip } from "./verdicts.js";

const PAUSE = 400; // milliseconds without a key before the server is asked
const MOST = 200; // skills that one request may name

// The element, and `typed`, to be called with the text whenever it changes. `choose` takes the name that is clicked.
export const skillRanking = (skills, panel, signal, choose) => {
  const element = h("div", { class: "ranking", "aria-live": "polite" });
  let timer = 0;
  let asking = new AbortController();
  const rank = async (text) => {
    asking.abort();
    asking = new AbortController();
    const at = { signal: AbortSignal.any([signal, asking.signal]) };
    const names = skills.slice(0, MOST);
    try {
      const [{ decisions: about, any_applies: any }, { decisions }] = await Promise.all([
        post("v1/choose", { text, skills: names, ...panel, record: false }, at),
        post("v1/decide/batch", { questions: names.map((skill) => ({ text, skill, ...panel, record: false })) }, at),
      ]);
      const chances = new Map(about.map((one) => [one.skill, one.applies ?? null]));
      replace(element, ranked(decisions.map((one) => ({ ...one, applies: chances.get(one.skill) ?? null })), any, skills.length, choose));
    } catch (error) {
      if (error.name !== "AbortError") replace(element);
    }
  };
  const typed = (text) => {
    clearTimeout(timer);
    if (text.trim().length < 8) { asking.abort(); replace(element); return; }
    timer = setTimeout(() => rank(text), PAUSE);
  };
  return { element, typed };
};

const ranked = (rows, any, all, choose) => {
  const ordered = rows.sort((a, b) => Math.round(100 * (b.applies ?? 0)) - Math.round(100 * (a.applies ?? 0)) || b.gain - a.gain);
  return h("details", { open: true },
    h("summary", {}, `${plural(rows.length, "skill")} ranked for this task`),
    any !== null && any < 0.5 ? h("p", { class: "quiet small" }, "A harness would ask about none of them: the task is like those of no recorded skill.") : null,
    rows.length < all ? h("p", { class: "quiet small" }, `The first ${rows.length} of ${all} skills.`) : null,
    table([
      { title: "Skill", cell: (one) => h("button", { type: "button", class: "link", onclick: () => choose(one.skill) }, breakable(one.skill)), value: (one) => one.skill, css: "name" },
      { title: "The task is about it", numeric: true, cell: (one) => percent(one.applies, 0), value: (one) => one.applies },
      { title: "Gain if it is, points", numeric: true, cell: (one) => [points(one.gain), one.interval ? h("small", {}, pointSpread(one.interval)) : null], value: (one) => one.gain },
      { title: "Certainty", cell: (one) => one.certainty ?? "–", value: (one) => one.certainty },
      { title: "Decision, asked alone", cell: (one) => chip(one.action), value: (one) => one.action },
    ], ordered, { first: 8 }));
};
