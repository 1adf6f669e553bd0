// Tables: columns with headings that sort, rows that become cards on a phone, and a hint where there is more sideways.
import { h } from "./elements.js";

// A column: { title, cell(row), value(row) to sort by, numeric, hint }. A cell is a node or text.
// With `first`, the rest of the rows waits behind a button.
export const table = (columns, rows, { sorted, rowClass, first = Infinity, css = "" } = {}) => {
  const body = h("tbody", {});
  let shown = first;
  const headings = columns.map((column) => heading(column, () => sort(column)));
  let order = sorted ?? { title: null, descending: true };

  const draw = () => {
    const column = columns.find((one) => one.title === order.title);
    const listed = column ? [...rows].sort((a, b) => compare(column.value(a), column.value(b), order.descending)) : rows;
    body.replaceChildren(...listed.slice(0, shown).map((row) => h(
      "tr", { class: rowClass?.(row) },
      columns.map((one, index) => h(
        index === 0 ? "th" : "td",
        { class: [one.numeric && "n", one.css].filter(Boolean).join(" ") || null, "data-label": one.label ?? one.title, scope: index === 0 ? "row" : null },
        one.cell(row),
      )),
    )));
    headings.forEach((cell, index) => {
      if (columns[index].title === order.title) cell.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
  };

  const sort = (column) => {
    order = { title: column.title, descending: order.title === column.title ? !order.descending : Boolean(column.numeric) };
    draw();
  };

  draw();
  const all = h("button", { type: "button", class: "button", onclick: () => { shown = Infinity; draw(); all.remove(); } }, `Show all ${rows.length}`);
  return h(
    "div", {},
    h("div", { class: "scroll" }, h("table", { class: `cards ${css}` }, h("thead", {}, h("tr", {}, headings)), body)),
    rows.length > first ? all : null,
  );
};

const heading = (column, sort) => h(
  "th", { class: [column.numeric && "n", column.css].filter(Boolean).join(" ") || null, scope: "col", title: column.hint },
  column.value ? h("button", { type: "button", onclick: sort }, column.title) : column.title,
);

// What is unknown stands last either way.
const compare = (a, b, descending) => {
  const [unknownA, unknownB] = [a === null || a === undefined, b === null || b === undefined];
  if (unknownA || unknownB) return unknownA - unknownB;
  const found = typeof a === "string" ? a.localeCompare(b) : a - b;
  return descending ? -found : found;
};
