// A forest plot: all skills with gain and interval over one axis, as a drawing that stands alone when it is saved.
import { h, svg } from "./elements.js";
import { sharedRange } from "./intervals_chart.js";
import { plural, pointSpread, points } from "./numbers.js";
import { linear, ticks } from "./scales.js";

const WIDTH = 860;
const ROW = 24;
const EDGE = { left: 232, right: 190, top: 56, bottom: 50 };
const FONT = "system-ui, sans-serif";
const LONGEST = 30;

export const forestPlot = (skills, title) => {
  const rows = [...skills].sort((a, b) => b.gain - a.gain || a.skill.localeCompare(b.skill));
  const colors = palette();
  const drawing = drawn(rows, title, colors);
  return h("figure", { class: "forest" },
    h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Forest plot of all skills" }, drawing),
    h("p", {}, h("button", { type: "button", class: "button", onclick: () => save(drawing) }, "Save as one picture (SVG)")));
};

// A saved picture has no style sheet, so that colors are written into it.
const palette = () => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "ink-2", "grid", "line", "help", "harm", "page"].map((name) => [name, style.getPropertyValue(`--c-${name}`).trim()]));
};

const drawn = (rows, title, colors) => {
  const height = EDGE.top + rows.length * ROW + EDGE.bottom;
  const range = sharedRange(rows);
  const x = linear(range[0], range[1], EDGE.left, WIDTH - EDGE.right);
  const bottom = height - EDGE.bottom;
  const text = (words, attributes) => svg("text", { "font-family": FONT, "font-size": 12, fill: colors["ink-2"], ...attributes }, words);
  return svg(
    "svg", { class: "forest-plot", width: WIDTH, height, viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `Gain with 95% interval of ${plural(rows.length, "skill")}, largest first. The table above has the numbers.` },
    svg("rect", { x: 0, y: 0, width: WIDTH, height, fill: colors.page }),
    text(title, { x: 12, y: 22, "font-size": 14, "font-weight": 600, fill: colors.ink }),
    text("harms", { x: x(0) - 10, y: 46, "text-anchor": "end" }), text("helps", { x: x(0) + 10, y: 46 }),
    ticks(range[0], range[1], 6).map((value) => [
      svg("line", { x1: x(value), x2: x(value), y1: EDGE.top, y2: bottom, stroke: value === 0 ? colors["ink-2"] : colors.grid }),
      text(value === 0 ? "0" : points(value, 0), { x: x(value), y: bottom + 18, "text-anchor": "middle" }),
    ]),
    text("gain in points of success, with its 95% interval", { x: (EDGE.left + WIDTH - EDGE.right) / 2, y: bottom + 38, "text-anchor": "middle" }),
    rows.map((row, index) => {
      const y = EDGE.top + (index + 0.5) * ROW;
      const color = row.gain < 0 ? colors.harm : colors.help;
      const name = row.skill.length > LONGEST ? `${row.skill.slice(0, LONGEST - 1)}…` : row.skill;
      return svg("g", {},
        svg("title", {}, `${row.skill}: ${points(row.gain)} points${row.interval ? ` (${pointSpread(row.interval)})` : ""}, ${row.verdict}`),
        text(name, { x: 12, y: y + 4, fill: colors.ink }),
        row.interval ? svg("line", { x1: x(row.interval.low), x2: x(row.interval.high), y1: y, y2: y, stroke: color, "stroke-width": 2 }) : null,
        row.gain < 0 ? svg("rect", { x: x(row.gain) - 4.5, y: y - 4.5, width: 9, height: 9, fill: color }) : svg("circle", { cx: x(row.gain), cy: y, r: 5, fill: color }),
        text(`${points(row.gain)}${row.interval ? ` (${pointSpread(row.interval)})` : ""}`, { x: WIDTH - EDGE.right + 14, y: y + 4 }));
    }),
  );
};

const save = (drawing) => {
  const copy = drawing.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const place = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  const anchor = h("a", { href: place, download: "skilldelta-gains.svg" });
  anchor.click();
  URL.revokeObjectURL(place);
};
