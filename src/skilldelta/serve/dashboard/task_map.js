// The recorded tasks on the plane in which their vectors differ most: near points are alike. Colour is what the skill did,
// a full point is one on which the gate uses it.
import { h, responsive, svg } from "./elements.js";
import { percent, plural, shorten, signed, solved } from "./numbers.js";
import { linear, padded } from "./scales.js";

const kindOf = (point) => (point.gain > 0 ? "help" : point.gain < 0 ? "harm" : "tie");

// state: { threshold, query: {x, y}, near: Map task_id -> weight }; the map is drawn anew when `redraw` is called.
export const taskMap = (map, state, { extra = [] } = {}) => {
  const points = [...map.points, ...extra.filter((one) => !map.points.some((point) => point.task_id === one.task_id))];
  const tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  const draw = (width) => drawing(points, state, width, tip);
  const place = responsive(draw);
  const shares = map.shares[0] + map.shares[1];
  return Object.assign(h(
    "figure", { class: "map" },
    legend(state),
    h("div", { class: "map-place" }, place, tip),
    h("figcaption", { class: "quiet small" },
      map.points.length < map.tasks ? `${plural(map.points.length, "task")} of ${map.tasks.toLocaleString("en-US")}, drawn at random. ` : "",
      `Points close together are tasks with similar texts. The two directions show ${percent(shares, 0)} of how the texts differ, so distances are a sketch; decisions rest on the whole vectors.`),
  ), { redraw: place.redraw });
};

const legend = (state) => h(
  "p", { class: "legend" },
  h("span", {}, dot("help"), "helped"), h("span", {}, dot("tie"), "unchanged"), h("span", {}, dot("harm"), "harmed"),
  h("span", {}, dot("hollow"), "the gate skips"),
  state.query ? h("span", {}, dot("query"), "this task") : null,
);

const dot = (kind) => svg("svg", { class: "dot", width: 14, height: 14, "aria-hidden": "true" }, kind === "query"
  ? svg("path", { class: "query", d: "M7,1 13,7 7,13 1,7Z" }) : svg("circle", { class: kind === "hollow" ? "tie skipped" : kind, cx: 7, cy: 7, r: 4.5 }));

const drawing = (points, state, width, tip) => {
  const height = Math.max(280, Math.min(460, Math.round(width * 0.5)));
  const placed = state.query ? [...points, state.query] : points;
  const x = linear(...padded(placed.map((point) => point.x)), 12, width - 12);
  const y = linear(...padded(placed.map((point) => point.y)), height - 12, 12);
  const radius = points.length > 400 ? 3.2 : points.length > 120 ? 4.2 : 5.5;
  const circles = points.map((point) => circle(point, x(point.x), y(point.y), radius, state));
  const chart = svg(
    "svg", { class: "chart", width, height, role: "img", "aria-label": summary(points) },
    svg("rect", { class: "frame", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6 }),
    state.query ? lines(points, state, x, y) : null,
    circles,
    state.query ? svg("path", { class: "query", d: diamond(x(state.query.x), y(state.query.y)) }) : null,
  );
  chart.addEventListener("pointermove", (event) => hover(event, chart, points, x, y, tip, width));
  chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  return chart;
};

const circle = (point, cx, cy, radius, state) => {
  const skipped = state.threshold !== null && !(point.predicted !== null && point.predicted > state.threshold);
  const far = state.near && !state.near.has(point.task_id);
  return svg("circle", { class: `${kindOf(point)}${skipped ? " skipped" : ""}${far ? " far" : ""}`, cx, cy, r: state.near?.has(point.task_id) ? radius + 1.6 : radius });
};

const lines = (points, { query, near }, x, y) => points.filter((point) => near.has(point.task_id)).map((point) => svg(
  "line", { class: "tie-line", x1: x(query.x), y1: y(query.y), x2: x(point.x), y2: y(point.y) },
));

const diamond = (x, y) => `M${x},${y - 9}L${x + 9},${y}L${x},${y + 9}L${x - 9},${y}Z`;

const summary = (points) => {
  const number = (kind) => points.filter((point) => kindOf(point) === kind).length;
  return `Map of ${plural(points.length, "task")}: ${number("help")} helped, ${number("harm")} harmed, ${number("tie")} unchanged. The tables on this page have the same tasks.`;
};

const hover = (event, chart, points, x, y, tip, width) => {
  const box = chart.getBoundingClientRect();
  const [px, py] = [event.clientX - box.left, event.clientY - box.top];
  const near = points.reduce((best, point) => {
    const away = Math.hypot(x(point.x) - px, y(point.y) - py);
    return away < best.away ? { point, away } : best;
  }, { point: null, away: 18 });
  tip.hidden = !near.point;
  if (!near.point) return;
  const { point } = near;
  tip.replaceChildren(
    h("b", {}, point.task_id),
    h("span", {}, `without ${solved(point.y0, point.r0)}, with ${solved(point.y1, point.r1)}${point.predicted === null ? "" : `, predicted ${signed(point.predicted)}`}`),
    h("span", { class: "quiet" }, shorten(point.text, 160)),
  );
  tip.style.left = `${Math.max(0, Math.min(width - 270, x(point.x) + 12))}px`;
  tip.style.top = `${y(point.y) + 12}px`;
};
