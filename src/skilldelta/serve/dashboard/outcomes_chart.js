// Observed success with its interval beside the predicted one, period by period.
import { h, responsive, svg } from "./elements.js";
import { moment, percent, plural } from "./numbers.js";
import { linear, ticks } from "./scales.js";

const HEIGHT = 230;
const EDGE = { left: 44, right: 14, top: 12, bottom: 34 };

export const outcomesChart = (periods) => h("div", {}, legend(), responsive((width) => drawing(periods, width)));

const legend = () => h(
  "p", { class: "legend" },
  h("span", {}, svg("svg", { class: "dot", width: 14, height: 18, "aria-hidden": "true" }, svg("line", { class: "spread", x1: 7, x2: 7, y1: 1, y2: 17 }), svg("circle", { class: "observed", cx: 7, cy: 9, r: 4 })), "observed, with its 95% interval"),
  h("span", {}, svg("svg", { class: "dot", width: 22, height: 14, "aria-hidden": "true" }, svg("line", { class: "predicted", x1: 1, x2: 21, y1: 7, y2: 7 })), "predicted"),
);

const drawing = (periods, width) => {
  const first = Math.min(...periods.map((one) => one.start));
  const last = Math.max(...periods.map((one) => one.end));
  const x = linear(first, last, EDGE.left, width - EDGE.right);
  const y = linear(0, 1, HEIGHT - EDGE.bottom, EDGE.top);
  return svg(
    "svg", { class: "chart", width, height: HEIGHT, role: "img", "aria-label": summary(periods) },
    ticks(0, 1, 4).map((value) => [
      svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(value), y2: y(value) }),
      svg("text", { x: EDGE.left - 8, y: y(value) + 4, "text-anchor": "end" }, percent(value, 0)),
    ]),
    periods.map((one) => {
      const middle = x((one.start + one.end) / 2);
      return svg("g", {},
        svg("title", {}, words(one)),
        svg("line", { class: "predicted", x1: x(one.start) + 1, x2: x(one.end) - 1, y1: y(one.predicted), y2: y(one.predicted) }),
        svg("line", { class: "spread", x1: middle, x2: middle, y1: y(one.low), y2: y(one.high) }),
        svg("circle", { class: "observed", cx: middle, cy: y(one.observed), r: 4.5 }));
    }),
    svg("text", { x: EDGE.left, y: HEIGHT - 10 }, moment(first)),
    svg("text", { x: width - EDGE.right, y: HEIGHT - 10, "text-anchor": "end" }, moment(last)),
  );
};

const words = (one) => `${moment(one.start)}: ${percent(one.observed)} observed (${percent(one.low, 0)} to ${percent(one.high, 0)}), ${percent(one.predicted)} predicted, ${plural(one.number, "outcome")}`;

const summary = (periods) => `Predicted and observed success in ${plural(periods.length, "period")}. ${periods.slice(-12).map(words).join("; ")}`;
