// Draws the plots, switches panel and theme, sorts tables. Reads the page's own data only; nothing is fetched.
(() => {
  "use strict";
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("report-data").textContent);
  root.classList.add("js");

  // Theme: the system's unless chosen here. A file may not be allowed to remember it; then the choice lasts for the visit.
  const remembered = () => { try { return localStorage.getItem("skilldelta-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("skilldelta-theme", theme); } catch { /* private page */ } };
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches);
  const showTheme = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  if (remembered()) root.dataset.theme = remembered();
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    showTheme();
  });
  systemIsDark.addEventListener("change", showTheme);
  showTheme();

  // Plots: drawn once, when their panel is first shown; the style sheet recolors them.
  const draw = async (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    try {
      await vegaEmbed(place, data.plots[place.dataset.plot], {
        mode: "vega-lite", renderer: "svg", actions: false, ast: true, config: data.config,
        tooltip: { theme: "report" },
      });
      place.dataset.drawn = "done";
    } catch (error) {
      place.dataset.drawn = "failed";
      place.textContent = "This plot could not be drawn (" + error.message + "); its numbers are in the table below.";
    }
  };
  const drawAll = async (within) => {
    for (const place of within.querySelectorAll("[data-plot]")) await draw(place);
  };

  // Saving: the drawn picture with the colors of the current theme put in.
  const save = (button) => {
    const style = getComputedStyle(root);
    for (const place of button.closest("figure").querySelectorAll("[data-plot]")) {
      const picture = place.querySelector("svg").cloneNode(true);
      picture.setAttribute("xmlns", "http://www.w3.org/2000/svg");
      picture.style.background = style.getPropertyValue("--c-page");
      const text = new XMLSerializer().serializeToString(picture)
        .replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = place.dataset.plot + ".svg";
      link.click();
      URL.revokeObjectURL(link.href);
    }
  };

  // Tables wider than their place say so; the style sheet adds the words. The arrow of a sorted last column is no reason.
  const measure = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      box.classList.toggle("overflows", box.scrollWidth > box.clientWidth + 24);
    }
  };
  addEventListener("resize", measure);
  document.addEventListener("toggle", measure, true);

  // Panels: one at a time, named by the address, so that a link to a figure opens its panel.
  const panels = [...document.querySelectorAll(".panel")];
  const select = document.getElementById("panel-select");
  const show = (panel) => {
    for (const other of panels) other.hidden = other !== panel;
    if (select) select.value = panel.id;
    for (const link of document.querySelectorAll(".bar a[data-section]")) {
      link.hash = "#" + panel.id + "-" + link.dataset.section;
      link.hidden = !document.getElementById(panel.id + "-" + link.dataset.section);
    }
    measure();
    return drawAll(panel);
  };
  const fromAddress = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const panel = target && target.closest(".panel");
    if (panel && panel.hidden) show(panel).then(() => target.scrollIntoView());
    return panel;
  };
  if (select) select.addEventListener("change", () => { show(document.getElementById(select.value)); });
  addEventListener("hashchange", fromAddress);

  // Long tables: a search, a choice of families, and only the rows in sight are in the page, so that it stays short and quick.
  const windows = new Map();
  const spare = 12; // rows above and below those in sight
  const windowed = (table) => {
    const body = table.tBodies[0];
    const box = table.parentElement;
    const all = [...body.rows];
    if (all.length < 25) return;
    let rows = all;
    let isPrinting = false;
    for (const row of all) row.title = row.cells[0].textContent;
    box.classList.add("is-windowed");
    const height = Math.max(30, all[0].getBoundingClientRect().height);
    const spacer = (number) => {
      const row = document.createElement("tr");
      row.className = "spacer";
      row.setAttribute("aria-hidden", "true");
      row.append(document.createElement("td"));
      row.firstChild.colSpan = table.tHead.rows[0].cells.length;
      row.firstChild.style.height = `${number * height}px`;
      return row;
    };
    const show = () => {
      if (isPrinting) { body.replaceChildren(...rows); return; }
      const first = Math.max(0, Math.floor(box.scrollTop / height) - spare);
      const last = Math.min(rows.length, first + Math.ceil(box.clientHeight / height) + 2 * spare);
      rows.slice(first, last).forEach((row, index) => row.setAttribute("aria-rowindex", String(first + index + 2)));
      body.replaceChildren(spacer(first), ...rows.slice(first, last), spacer(rows.length - last));
      table.setAttribute("aria-rowcount", String(rows.length + 1));
    };
    const search = control("input", "Search tasks and texts");
    search.type = "search";
    const families = [...new Set(all.map((row) => row.cells[1].textContent))].sort((a, b) => a.localeCompare(b));
    const family = control("select", "Family", ["", ...families]);
    const way = control("select", "Which way", ["", "B better", "B worse", "flipped"]);
    const number = document.createElement("span");
    number.className = "quiet small";
    number.setAttribute("role", "status");
    const fits = (row) => {
      const gain = Number(row.cells[4].dataset.value);
      const isWay = { "": true, "B better": gain > 0, "B worse": gain < 0, flipped: row.cells[5].textContent !== "" }[way.value];
      return isWay && (family.value === "" || row.cells[1].textContent === family.value)
        && row.textContent.toLowerCase().includes(search.value.trim().toLowerCase());
    };
    const filter = () => {
      rows = all.filter(fits);
      number.textContent = `${rows.length.toLocaleString("en-US")} of ${all.length.toLocaleString("en-US")} tasks`;
      box.scrollTop = 0;
      show();
    };
    const bar = document.createElement("div");
    bar.className = "table-filters";
    bar.append(search.parentElement, ...(families.length > 1 ? [family.parentElement] : []), way.parentElement, number);
    box.before(bar);
    for (const place of [search, family, way]) place.addEventListener("input", filter);
    box.addEventListener("scroll", show);
    addEventListener("resize", show);
    addEventListener("beforeprint", () => { isPrinting = true; show(); });
    addEventListener("afterprint", () => { isPrinting = false; show(); });
    windows.set(table, { order: (compare) => { all.sort(compare); filter(); } });
    filter();
  };
  const control = (tag, words, options) => {
    const label = document.createElement("label");
    const field = document.createElement(tag);
    label.append(words, field);
    for (const value of options ?? []) {
      const option = document.createElement("option");
      option.value = value;
      option.textContent = value || "all";
      field.append(option);
    }
    return field;
  };

  // Tables: a click sorts (numbers from the largest, words from A), another reverses; unknown values stay last.
  const sort = (heading) => {
    const table = heading.closest("table");
    const column = [...heading.parentNode.children].indexOf(heading);
    const numeric = heading.classList.contains("n");
    const before = heading.getAttribute("aria-sort");
    const up = before ? before === "descending" : !numeric;
    const value = ({ cells }) => (numeric ? cells[column].dataset.value : cells[column].textContent);
    const compare = (a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      const order = numeric ? x - y : x.localeCompare(y);
      return up ? order : -order;
    };
    for (const other of heading.parentNode.children) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const list = windows.get(table);
    if (list) list.order(compare);
    else table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  };
  const sortFamilies = (button) => {
    const key = button.dataset.sort;
    const up = button.dataset.order ? button.dataset.order === "down" : key === "label";
    for (const other of button.closest(".family-head").querySelectorAll("button")) delete other.dataset.order;
    button.dataset.order = up ? "up" : "down";
    const order = (a, b) => (key === "label" ? a.dataset[key].localeCompare(b.dataset[key]) : a.dataset[key] - b.dataset[key]);
    const list = button.closest(".families");
    list.append(...[...list.querySelectorAll("details.family")].sort((a, b) => (up ? order(a, b) : order(b, a))));
  };
  document.addEventListener("click", (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    if (pressed.closest("th")) sort(pressed.closest("th"));
    if (pressed.dataset.sort) sortFamilies(pressed);
    if (pressed.dataset.save !== undefined) save(pressed);
  });

  (async () => {
    for (const table of document.querySelectorAll("table.windowed")) windowed(table);
    await drawAll(document.getElementById("overview") || document.createElement("div"));
    const panel = fromAddress() || panels[0];
    if (panel) await show(panel);
    measure();
    root.dataset.ready = "yes";
  })();
})();
