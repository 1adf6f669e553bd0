// The recorded tasks on the plane in which their vectors differ most: near points are alike. Shape and color are what the
// skill did, a full point is one on which the gate uses it. What a point is shows on hover, on tap and with the arrow keys.
import { announce, h, responsive, svg } from "./elements.js";
import { kindOf, markOf } from "./marks.js";
import { percent, plural, shorten, signed, solved } from "./numbers.js";
import { linear, padded } from "./scales.js";

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
  ? svg("path", { class: "query", d: "M7,1 13,7 7,13 1,7Z" }) : kind === "hollow" ? markOf("tie", 7, 7, 4.5, " skipped") : markOf(kind, 7, 7, 4.5));

const drawing = (points, state, width, tip) => {
  const height = Math.max(280, Math.min(460, Math.round(width * 0.5)));
  const placed = state.query ? [...points, state.query] : points;
  const x = linear(...padded(placed.map((point) => point.x)), 12, width - 12);
  const y = linear(...padded(placed.map((point) => point.y)), height - 12, 12);
  const radius = points.length > 400 ? 3.2 : points.length > 120 ? 4.2 : 5.5;
  const marks = points.map((point) => mark(point, x(point.x), y(point.y), radius, state));
  const chart = svg(
    "svg", { class: "chart", width, height, role: "img", tabindex: 0, "aria-label": summary(points) },
    svg("rect", { class: "frame", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6 }),
    state.query ? lines(points, state, x, y) : null,
    marks,
    state.query ? svg("path", { class: "query", d: diamond(x(state.query.x), y(state.query.y)) }) : null,
  );
  const place = (point) => [x(point.x), y(point.y)];
  tips(chart, points, place, tip, width);
  return chart;
};

const mark = (point, cx, cy, radius, state) => {
  const skipped = state.threshold !== null && !(point.predicted !== null && point.predicted > state.threshold);
  const far = state.near && !state.near.has(point.task_id);
  const css = `${skipped ? " skipped" : ""}${far ? " far" : ""}`;
  return markOf(kindOf(point.gain), cx, cy, state.near?.has(point.task_id) ? radius + 1.6 : radius, css);
};

const lines = (points, { query, near }, x, y) => points.filter((point) => near.has(point.task_id)).map((point) => svg(
  "line", { class: "tie-line", x1: x(query.x), y1: y(query.y), x2: x(point.x), y2: y(point.y) },
));

const diamond = (x, y) => `M${x},${y - 9}L${x + 9},${y}L${x},${y + 9}L${x - 9},${y}Z`;

const summary = (points) => {
  const number = (kind) => points.filter((point) => kindOf(point.gain) === kind).length;
  return `Map of ${plural(points.length, "task")}: ${number("help")} helped, ${number("harm")} harmed, ${number("tie")} unchanged. Arrow keys go from task to task.`;
};

const REACH = 18; // pixels from a point that still mean it; a finger is less exact
const FINGER = 34;

const tips = (chart, points, place, tip, width) => {
  const ordered = [...points].sort((a, b) => place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1]);
  let current = -1;
  const ring = svg("circle", { class: "ring", r: 10, visibility: "hidden" });
  chart.append(ring);
  const hide = () => { tip.hidden = true; ring.setAttribute("visibility", "hidden"); };
  const show = (point) => {
    const [px, py] = place(point);
    const words = `without ${solved(point.y0, point.r0)}, with ${solved(point.y1, point.r1)}${point.predicted === null ? "" : `, predicted ${signed(point.predicted)}`}`;
    tip.replaceChildren(h("b", {}, point.task_id), h("span", {}, words), h("span", { class: "quiet" }, shorten(point.text, 160)));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(width - 270, px + 12))}px`;
    tip.style.top = `${py + 12}px`;
    ring.setAttribute("cx", px);
    ring.setAttribute("cy", py);
    ring.setAttribute("visibility", "visible");
    current = ordered.indexOf(point);
    return `${point.task_id}: ${words}`;
  };
  const nearest = (event, reach) => {
    const box = chart.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    return points.reduce((best, point) => {
      const away = Math.hypot(place(point)[0] - px, place(point)[1] - py);
      return away < best.away ? { point, away } : best;
    }, { point: null, away: reach }).point;
  };
  const at = (event, reach) => { const point = nearest(event, reach); if (point) show(point); else hide(); };
  chart.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") at(event, REACH); });
  chart.addEventListener("pointerdown", (event) => at(event, event.pointerType === "touch" ? FINGER : REACH));
  chart.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hide(); });
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step || !ordered.length) return;
    event.preventDefault();
    announce(show(ordered[(current + step + ordered.length) % ordered.length]));
  });
};
