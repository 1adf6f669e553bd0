// The words and colours of verdicts and actions, the same on every page.
import { h } from "./elements.js";

const TONES = { keep: "keep", gate: "gate", drop: "drop", use: "keep", skip: "calm", abstain: "open", "not enough evidence": "open" };

export const chip = (word) => h("span", { class: `chip ${TONES[word] ?? "open"}` }, word);

export const blockTone = (word) => ({ keep: "yes", gate: "yes", use: "yes", drop: "no", skip: "calm" })[word] ?? "open";

export const MEANINGS = [
  ["keep", "It helps on average, and the evidence is clear: always using it is fine."],
  ["gate", "It helps some families and harms others: let the gate decide task by task."],
  ["drop", "It harms on average, or makes no difference at a price: do not use it."],
  ["not enough evidence", "Too few tasks to say. The sentence beside it says about how many more would settle it."],
];
