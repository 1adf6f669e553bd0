// The words and colors of verdicts and actions, the same on every page.
import { h } from "./elements.js";

const TONES = { keep: "keep", gate: "gate", drop: "drop", use: "keep", skip: "calm", abstain: "open", "no effect": "open", "not enough evidence": "open" };

export const chip = (word) => h("span", { class: `chip ${TONES[word] ?? "open"}` }, word);

export const blockTone = (word) => ({ keep: "yes", gate: "yes", use: "yes", drop: "no", skip: "calm" })[word] ?? "open";

export const MEANINGS = [
  ["keep", "It helps on average, and the evidence is clear: always using it is fine."],
  ["gate", "On unseen tasks the gate beats always using it, or it harms some families: let the gate decide task by task."],
  ["drop", "It harms on average: do not use it."],
  ["no effect", "Its gain is probably within 5 points of zero: it costs tokens and changes little."],
  ["not enough evidence", "Too few tasks to say. The sentence beside it says how many more would probably settle it."],
];
