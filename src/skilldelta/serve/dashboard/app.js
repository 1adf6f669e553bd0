// The frame around the pages: which page the address names, which panel it is about, and what happens when a page fails.
import { get, token } from "./api.js";
import { announce, h, overline, replace, sentence } from "./elements.js";
import { firstSteps } from "./first_steps.js";
import { count, plural } from "./numbers.js";
import { decisionPage, decisionsPage } from "./decisions_page.js";
import { evaluationPage } from "./evaluation_page.js";
import { importPage } from "./import_page.js";
import { libraryPage } from "./library_page.js";
import { link, route } from "./addresses.js";
import { overviewPage } from "./overview_page.js";
import { realityPage } from "./reality_page.js";
import { skillPage } from "./skill_page.js";
import { tryPage } from "./try_page.js";

// Each page: its place in the navigation, how it is made, and whether it needs a complete pair to say anything.
const PAGES = {
  "": { place: "overview", make: overviewPage, needsPairs: true },
  skill: { place: "overview", make: skillPage, needsPairs: true },
  try: { place: "try", make: tryPage, needsPairs: true },
  decisions: { place: "decisions", make: decisionsPage },
  decision: { place: "decisions", make: decisionPage },
  reality: { place: "reality", make: realityPage },
  evaluation: { place: "evaluation", make: evaluationPage, needsPairs: true },
  library: { place: "library", make: libraryPage },
  import: { place: "import", make: importPage },
};

const content = document.getElementById("content");
let current = new AbortController();

const show = async () => {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const asked = route();
  const page = PAGES[asked.page];
  mark(page?.place);
  // What a page can show at once stands there until the rest is computed.
  const waiting = { now: h("p", { class: "waiting quiet", role: "status" }, "Reading the bank…"), isShown: false };
  const early = (node) => { waiting.now = node; if (waiting.isShown && !signal.aborted) replace(content, node); };
  const timer = setTimeout(() => { waiting.isShown = true; replace(content, waiting.now); }, 200);
  content.setAttribute("aria-busy", "true");
  try {
    const drawn = page ? await make(page, asked, signal, early) : notFound();
    if (signal.aborted) return;
    clearTimeout(timer);
    replace(content, drawn);
  } catch (error) {
    clearTimeout(timer);
    if (signal.aborted || error.name === "AbortError") return;
    replace(content, error.status === 401 ? tokenForm() : failure(error));
  }
  content.removeAttribute("aria-busy");
  settle();
};

const make = async (page, asked, signal, early) => {
  const panel = { agent: asked.query.get("agent") ?? "", suite: asked.query.get("suite") ?? "" };
  const frame = await get("v1/dashboard/frame", panel, { signal });
  tell(frame);
  const settings = Object.fromEntries(frame.settings.map((one) => [one.name, one.value]));
  const context = { ...asked, panel, frame, settings, signal, early, chooser: panelChooser(frame), refresh: show };
  return page.needsPairs && !frame.panel ? firstSteps(frame) : page.make(context);
};

// After a page has changed, those who read with a keyboard or by ear are at its heading.
const settle = () => {
  const heading = content.querySelector("h1");
  document.title = heading ? `${heading.textContent} · SkillDelta` : "SkillDelta";
  content.dataset.ready = location.hash || "#/";
  if (!settle.isFirst) {
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
    scrollTo(0, 0);
    announce(heading?.textContent ?? "");
  }
  settle.isFirst = false;
};
settle.isFirst = true;

const mark = (place) => {
  for (const anchor of document.querySelectorAll("#pages a")) {
    anchor.href = link(anchor.dataset.page === "overview" ? "" : anchor.dataset.page);
    const isHere = anchor.dataset.page === place;
    if (isHere) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
    // On a phone the row of links scrolls sideways.
    if (isHere) anchor.parentElement.scrollLeft = anchor.offsetLeft - anchor.parentElement.offsetLeft - 60;
  }
  document.querySelector(".brand").href = link("");
};

const tell = (frame) => {
  replace(
    document.getElementById("bank"),
    h("strong", {}, frame.bank), `: ${plural(frame.tasks, "task")}, ${plural(frame.executions, "execution")}, `,
    `${plural(frame.decisions, "decision")} in the log`,
  );
  replace(document.getElementById("gate"), h("strong", {}, "Gate"), frame.settings.map((one) => [
    " ", h("span", { class: one.is_default ? "setting" : "setting changed", "data-setting": one.name, title: one.is_default ? "the default" : "set when the server was started" },
      one.name.replaceAll("_", " "), " ", h("b", {}, String(one.value))),
  ]));
};

// Agents and suites are never pooled, so every page is about one panel.
const panelChooser = (frame) => {
  if (frame.panels.length < 2) return null;
  const chosen = frame.panel;
  const select = h(
    "select", { onchange: () => choosePanel(frame.panels[select.selectedIndex]) },
    frame.panels.map((one) => h(
      "option", { selected: one.agent === chosen.agent && one.suite === chosen.suite },
      `${one.agent} on ${one.suite} (${count(one.pairs)})`,
    )),
  );
  return h("label", { class: "chooser" }, "Panel", select);
};

const choosePanel = ({ agent, suite }) => {
  const { page, name } = route();
  location.hash = link(page, page === "skill" ? name : "", { agent, suite });
};

const notFound = () => h("div", {}, h("h1", {}, "No such page"), h("p", {}, h("a", { href: link("") }, "Go to the overview")));

const failure = (error) => h(
  "div", { class: "verdict no", role: "alert" },
  overline("This page cannot be shown"),
  h("h1", {}, sentence(error.message)),
  h("p", {}, h("button", { type: "button", class: "button", onclick: show }, "Try again"), " ", h("a", { class: "button", href: link("") }, "Overview")),
);

const tokenForm = () => {
  const field = h("input", { type: "password", autocomplete: "off", required: true, id: "token" });
  const submit = (event) => { event.preventDefault(); token.set(field.value.trim()); show(); };
  return h(
    "div", {},
    h("h1", {}, "This server asks for a token"),
    token.get() ? h("p", { class: "refused", role: "alert" }, "The server did not accept the token that you gave.") : null,
    h("p", {}, "Make one where the server runs, and paste it here. It is kept until you close this tab."),
    h("pre", { class: "command" }, "skilldelta token create"),
    h("form", { class: "fields", onsubmit: submit },
      h("label", { for: "token" }, "Token", field), h("button", { class: "button primary" }, "Continue")),
  );
};

// The skip link must not become an address of a page.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); content.focus(); });
addEventListener("hashchange", show);
show();
