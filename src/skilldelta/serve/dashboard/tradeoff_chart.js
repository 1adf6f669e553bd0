// Success against tokens over every threshold, with the chosen one, the default and the two constant rules marked.
import { svg } from "./elements.js";
import { count, percent } from "./numbers.js";
import { linear, padded, ticks } from "./scales.js";

const HEIGHT = 300;
const EDGE = { left: 52, right: 18, top: 16, bottom: 44 };

// Tokens where they are recorded, else the use rate, which is what they follow.
export const tradeoffChart = (sweep, chosen) => (width) => {
  const byTokens = sweep.tokens.every(Number.isFinite);
  const across = byTokens ? sweep.tokens : sweep.use_rates;
  const [x0, x1] = padded(across, 0.08, byTokens ? 1 : 0.02);
  const [y0, y1] = padded(sweep.success, 0.14, 0.02);
  const x = linear(x0, x1, EDGE.left, width - EDGE.right);
  const y = linear(Math.max(0, y0), Math.min(1.02, y1), HEIGHT - EDGE.bottom, EDGE.top);
  const at = (index) => [x(across[index]), y(sweep.success[index])];
  const last = across.length - 1;
  const named = [[0, "always on", "constant"], [last, "always off", "constant"], [sweep.default, "default", "default"]];
  return svg(
    "svg", { class: "chart", width, height: HEIGHT, role: "img", "aria-label": `Success from ${percent(sweep.success[last])} never using the skill to ${percent(sweep.success[0])} always using it` },
    ticks(Math.max(0, y0), Math.min(1, y1), 4).map((value) => [
      svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
      svg("text", { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value, 0)),
    ]),
    ticks(x0, x1, width < 500 ? 3 : 6).filter((value) => value >= 0).map((value) => svg("text", { x: x(value), y: HEIGHT - EDGE.bottom + 18, "text-anchor": "middle" }, byTokens ? count(value) : percent(value, 0))),
    svg("text", { x: width - EDGE.right, y: HEIGHT - 6, "text-anchor": "end" }, byTokens ? "mean tokens per task" : "share of tasks that use the skill"),
    svg("text", { x: EDGE.left - 44, y: 10 }, "success"),
    svg("path", { class: "curve", d: path(across.map((_, index) => at(index))) }),
    named.map(([index, label, kind]) => mark(at(index), label, kind, width, named.some(([other]) => other !== index && Math.hypot(at(other)[0] - at(index)[0], at(other)[1] - at(index)[1]) < 60))),
    svg("line", { class: "guide", x1: at(chosen)[0], x2: at(chosen)[0], y1: at(chosen)[1], y2: HEIGHT - EDGE.bottom }),
    svg("circle", { class: "chosen", cx: at(chosen)[0], cy: at(chosen)[1], r: 7 }),
  );
};

const path = (places) => places.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");

const mark = ([x, y], label, kind, width, isCrowded) => {
  const side = x > width * 0.72 ? "end" : x < width * 0.28 ? "start" : "middle";
  return [
    svg("circle", { class: kind, cx: x, cy: y, r: 4.5 }),
    svg("text", { class: "strong", x: x + (side === "end" ? -9 : side === "start" ? 9 : 0), y: y + (kind === "default" ? (isCrowded ? 34 : -11) : isCrowded ? -11 : 19), "text-anchor": side }, label),
  ];
};
