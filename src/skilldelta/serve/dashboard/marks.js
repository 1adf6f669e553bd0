// What a skill did to a task, as a shape: up helped, down harmed, a dot is unchanged. Color only repeats it.
import { svg } from "./elements.js";

const SHAPES = {
  help: (x, y, r) => `M${x},${y - 1.15 * r}L${x + 1.1 * r},${y + 0.8 * r}L${x - 1.1 * r},${y + 0.8 * r}Z`,
  harm: (x, y, r) => `M${x},${y + 1.15 * r}L${x + 1.1 * r},${y - 0.8 * r}L${x - 1.1 * r},${y - 0.8 * r}Z`,
};

export const kindOf = (gain) => (gain > 0 ? "help" : gain < 0 ? "harm" : "tie");

export const markOf = (kind, x, y, radius, css = "") => {
  const attributes = { class: `mark ${kind}${css}` };
  return kind in SHAPES ? svg("path", { ...attributes, d: SHAPES[kind](x, y, radius) }) : svg("circle", { ...attributes, cx: x, cy: y, r: radius });
};
