// A gain with its interval on a line from harm to help. Places are percentages, so that nothing is drawn anew on resize.
import { h, svg } from "./elements.js";
import { pointSpread, points } from "./numbers.js";
import { linear, ticks } from "./scales.js";

const HEIGHT = 26;

// The range that all rows share: a bit more than the widest interval, zero included.
export const sharedRange = (rows) => {
  const ends = rows.flatMap((row) => [row.gain, row.interval?.low, row.interval?.high]).filter(Number.isFinite);
  const [low, high] = [Math.min(...ends, 0), Math.max(...ends, 0)];
  const margin = Math.max(0.04, (high - low) * 0.06);
  return [low - margin, high + margin];
};

export const intervalRow = (row, range) => {
  const at = linear(range[0], range[1], 2, 98);
  const place = (value) => `${at(Math.max(range[0], Math.min(range[1], value)))}%`;
  const tone = row.gain < 0 ? "harm" : "help";
  const words = `${points(row.gain)} points${row.interval ? `, 95% interval ${pointSpread(row.interval)}` : ""}`;
  return svg(
    "svg", { class: `interval ${tone}`, width: "100%", height: HEIGHT, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("line", { class: "zero", x1: place(0), x2: place(0), y1: 0, y2: HEIGHT }),
    row.interval ? svg("line", { class: "band", x1: place(row.interval.low), x2: place(row.interval.high), y1: HEIGHT / 2, y2: HEIGHT / 2 }) : null,
    svg("circle", { cx: place(row.gain), cy: HEIGHT / 2, r: 4.5 }),
  );
};

export const intervalAxis = (range) => {
  const at = linear(range[0], range[1], 2, 98);
  return svg(
    "svg", { class: "interval axis", width: "100%", height: 16, "aria-hidden": "true" },
    ticks(range[0], range[1], 4).map((value) => svg("text", { x: `${at(value)}%`, y: 12, "text-anchor": "middle" }, value === 0 ? "0" : points(value, 0))),
  );
};

// One prediction: interval, gain and threshold on a scale from −1 to +1.
export const gainScale = ({ gain, interval, threshold }) => {
  const at = (value) => `${linear(-1, 1, 3, 97)(Math.max(-1, Math.min(1, value)))}%`;
  const words = `gain ${points(gain)} points, threshold ${points(threshold)}${interval ? `, interval ${pointSpread(interval)}` : ""}`;
  return h("div", { class: "gain-scale" }, svg(
    "svg", { class: `interval ${gain > threshold ? "help" : "harm"}`, width: "100%", height: 74, role: "img", "aria-label": words },
    svg("line", { class: "base", x1: at(-1), x2: at(1), y1: 40, y2: 40 }),
    [-1, -0.5, 0, 0.5, 1].map((value) => [
      svg("line", { class: "tick", x1: at(value), x2: at(value), y1: 36, y2: 44 }),
      svg("text", { x: at(value), y: 64, "text-anchor": value === -1 ? "start" : value === 1 ? "end" : "middle" }, value === 0 ? "0" : points(value, 0)),
    ]),
    svg("line", { class: "threshold", x1: at(threshold), x2: at(threshold), y1: 16, y2: 50 }),
    svg("text", { class: "strong", x: at(threshold), y: 11, "text-anchor": "middle" }, "threshold"),
    interval ? svg("line", { class: "band wide", x1: at(interval.low), x2: at(interval.high), y1: 40, y2: 40 }) : null,
    svg("circle", { cx: at(gain), cy: 40, r: 7 }),
  ));
};
