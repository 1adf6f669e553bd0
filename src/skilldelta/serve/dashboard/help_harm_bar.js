// How many tasks a skill harmed, left unchanged and helped, as one bar. Harm stands on the left and is striped.
import { svg } from "./elements.js";
import { plural } from "./numbers.js";

let bars = 0;

export const helpHarmBar = ({ helped, harmed, unchanged }, height = 10) => {
  const all = helped + harmed + unchanged || 1;
  const words = `${plural(harmed, "task")} harmed, ${unchanged} unchanged, ${helped} helped`;
  const stripes = `stripes-${bars += 1}`;
  let from = 0;
  const part = (kind, number, fill = null) => {
    const rect = svg("rect", { class: kind, fill, x: `${(100 * from) / all}%`, y: 0, width: `${(100 * number) / all}%`, height });
    return number ? rect : null;
  };
  const kinds = [["harm", harmed], ["tie", unchanged], ["help", helped]].map(([kind, number]) => {
    const parts = [part(kind, number), kind === "harm" ? part("stripes", number, `url(#${stripes})`) : null];
    from += number;
    return parts;
  });
  return svg(
    "svg", { class: "help-harm", width: "100%", height, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("defs", {}, svg("pattern", { id: stripes, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { class: "stripe", x1: 0, x2: 0, y1: 0, y2: 5 }))),
    kinds,
  );
};
