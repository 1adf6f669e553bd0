// How many tasks a skill harmed, left unchanged and helped, as one bar.
import { svg } from "./elements.js";
import { plural } from "./numbers.js";

export const helpHarmBar = ({ helped, harmed, unchanged }, height = 10) => {
  const all = helped + harmed + unchanged || 1;
  const words = `${plural(harmed, "task")} harmed, ${unchanged} unchanged, ${helped} helped`;
  let from = 0;
  const part = (kind, number) => {
    const rect = svg("rect", { class: kind, x: `${(100 * from) / all}%`, y: 0, width: `${(100 * number) / all}%`, height });
    from += number;
    return number ? rect : null;
  };
  return svg(
    "svg", { class: "help-harm", width: "100%", height, role: "img", "aria-label": words },
    svg("title", {}, words), part("harm", harmed), part("tie", unchanged), part("help", helped),
  );
};
