// Import as a wizard: choose files, see what is understood of them, say what they do not say, then add them.
import { link } from "./addresses.js";
import { send } from "./api.js";
import { announce, h, overline, replace } from "./elements.js";
import { count, plural } from "./numbers.js";
import { bankOption } from "./shell.js";
import { table } from "./tables.js";

const ARMS = [["", "as the file says"], ["use", "with the skill"], ["skip", "without the skill"]];
const MEANINGS = [["", "choose"], ["use", "with the skill"], ["skip", "without the skill"], ["leave-out", "leave out"]];
const LABELS = { agent: "Agent", skill: "Skill", suite: "Suite", condition: "Arm of every run", format: "Format" };
// The fields that people map most, in their order; the others follow by name.
const FIRST = ["task_id", "text", "family", "skill", "agent", "suite", "y0", "y1", "condition", "success", "repetition", "tokens"];
const PAUSE = 350; // milliseconds after the last change before the files are read again

export const importPage = ({ frame, signal }) => {
  let files = []; // { file, preview, error }
  const done = [];
  const answers = { columns: {}, arms: {} };
  const check = h("div", { "aria-live": "polite" });
  const results = h("div", { "aria-live": "polite" });
  const names = nameFields(() => again());
  const columns = h("div", {});
  const arms = h("div", {});
  const add = h("button", { type: "button", class: "button primary", onclick: () => addAll() });
  const given = h("section", { class: "given", hidden: true },
    h("h2", {}, "2. Say what the files do not say"),
    h("div", { class: "fields row" }, Object.entries(names).map(([name, field]) => h("label", { for: field.id }, LABELS[name], field))),
    arms, columns);
  const last = h("section", { hidden: true }, h("h2", {}, "3. Add them"), h("p", {}, add, " ", h("button", { type: "button", class: "button", onclick: () => { files = []; draw(); } }, "Start over")));

  const draw = () => {
    const isChosen = files.length > 0;
    given.hidden = !isChosen;
    last.hidden = !isChosen;
    replace(check, isChosen ? h("section", {}, h("h2", {}, "1. What is understood"), files.map(understood)) : null);
    const ready = files.filter(({ preview }) => preview && !preview.problem).length;
    add.textContent = `Import ${plural(ready, "file")}`;
    add.disabled = !ready;
    replace(results, done.length ? outcome(done) : null);
  };

  const asked = () => ({
    ...Object.fromEntries(Object.entries(names).map(([name, field]) => [name, field.value.trim()])),
    map: Object.entries(answers.columns).filter(([, column]) => column).map(([field, column]) => `${field}=${column}`),
    arm: Object.entries(answers.arms).filter(([, meaning]) => meaning).map(([name, meaning]) => `${name}=${meaning}`),
  });

  const read = async (line) => {
    try {
      line.preview = await send("v1/import", { name: line.file.name, preview: true, ...asked() }, line.file, "application/octet-stream");
      line.error = null;
    } catch (error) {
      line.preview = null;
      line.error = error.message;
    }
  };
  const readAll = async () => {
    for (const line of files) await read(line);
    if (signal.aborted) return;
    askArms(arms, files, answers, again);
    askColumns(columns, files, answers, again);
    offerFormats(names.format, files);
    draw();
    announce(files.map(({ file, preview }) => `${file.name}: ${preview && !preview.problem ? plural(preview.pairs, "pair") : "something is missing"}`).join("; "));
  };
  let timer = 0;
  const again = () => { clearTimeout(timer); timer = setTimeout(readAll, PAUSE); };
  const take = (chosen) => { files.push(...chosen.map((file) => ({ file, preview: null, error: null }))); draw(); readAll(); };

  const addAll = async () => {
    add.disabled = true;
    for (const line of files.filter(({ preview }) => preview && !preview.problem)) {
      try {
        const { sources: [result] } = await send("v1/import", { name: line.file.name, ...asked() }, line.file, "application/octet-stream");
        done.push({ name: line.file.name, result, state: "added" });
        files = files.filter((other) => other !== line);
      } catch (error) {
        done.push({ name: line.file.name, error: error.message, state: "refused" });
      }
      announce(`${line.file.name}: ${done.at(-1).state}`);
      draw();
    }
  };

  return h(
    "div", {},
    overline("Import"),
    h("h1", {}, "Add executions to the bank"),
    h("p", { class: "quiet" }, `The bank ${frame.bank} has ${plural(frame.executions, "execution")} of ${plural(frame.tasks, "task")}. You see first what is understood; a file is added whole or not at all, and what is in the bank already is left as it is.`),
    dropZone(take), check, given, last, results, formats(frame),
  );
};

const nameFields = (changed) => {
  const names = Object.fromEntries(["agent", "skill", "suite"].map((name) => [name, h("input", { id: `given-${name}`, autocomplete: "off", placeholder: "as the file says", oninput: changed })]));
  names.condition = h("select", { id: "given-condition", onchange: changed }, ARMS.map(([value, words]) => h("option", { value }, words)));
  names.format = h("select", { id: "given-format", onchange: changed }, h("option", { value: "auto" }, "as recognized"));
  return names;
};

const offerFormats = (select, files) => {
  const known = files.find(({ preview }) => preview)?.preview.formats ?? [];
  if (select.options.length < 2) select.append(...known.map((name) => h("option", { value: name }, name)));
};

// Names of arms that the files leave open, each with the best guess.
const askArms = (place, files, answers, changed) => {
  const open = files.flatMap(({ preview }) => preview?.questions ?? []).filter((one) => one.about === "arm");
  const all = [...new Set([...Object.keys(answers.arms), ...open.map((one) => one.name)])];
  replace(place, all.length ? [h("h3", {}, "What the arms mean"), h("div", { class: "fields row" }, all.map((name) => {
    const select = h("select", { onchange: () => { answers.arms[name] = select.value; changed(); } },
      MEANINGS.map(([value, words]) => h("option", { value, selected: value === (answers.arms[name] ?? "") }, words)));
    return h("label", {}, name, select);
  }))] : null);
};

const askColumns = (place, files, answers, changed) => {
  if (place.firstChild) return; // an open choice is not closed while somebody makes it
  const offered = [...new Set(files.flatMap(({ preview }) => preview?.columns ?? []))];
  const fields = files.find(({ preview }) => preview)?.preview.fields ?? [];
  const ordered = [...FIRST.filter((name) => fields.includes(name)), ...fields.filter((name) => !FIRST.includes(name))];
  if (!offered.length) return;
  replace(place, h("details", {}, h("summary", {}, "Which column holds what"),
    h("div", { class: "fields row" }, ordered.map((name) => {
      const select = h("select", { "data-field": name, onchange: () => { answers.columns[name] = select.value; changed(); } },
        h("option", { value: "" }, "as recognized"), offered.map((column) => h("option", { value: column }, column)));
      return h("label", {}, name, select);
    }))));
};

const understood = ({ file, preview, error }) => h(
  "div", { class: `preview ${error || preview?.problem ? "open" : ""}` },
  h("h3", {}, file.name),
  !preview && !error ? h("p", { class: "quiet" }, "reading…") : null,
  error ? h("p", { class: "bad" }, error) : null,
  preview?.problem ? h("p", { class: "bad" }, plain(preview.problem)) : null,
  preview?.format ? h("p", { class: "quiet small" }, `Read as ${preview.format}${preview.why ? `, because ${preview.why}` : ""}. ${plural(preview.pairs, "pair")} of runs with and without the skill.`) : null,
  preview?.understood.length ? table([
    { title: "Skill", cell: (one) => one.skill || "none", css: "name" },
    { title: "Agent", cell: (one) => one.agent, css: "name" },
    { title: "Tasks", numeric: true, cell: (one) => count(one.tasks) },
    { title: "Runs with", numeric: true, cell: (one) => count(one.with_skill) },
    { title: "Runs without", numeric: true, cell: (one) => count(one.without_skill) },
  ], preview.understood, { first: 8 }) : null,
  preview?.notes.length ? h("ul", { class: "notes small" }, preview.notes.slice(0, 12).map((note) => h("li", {}, note))) : null,
);

// The command line's remedy, in the words of this page.
const plain = (problem) => problem
  .replace(/say --(agent|skill|suite|condition|arm)\b.*$/, "fill in the fields below")
  .replace(/say --(map|format)\b.*$/, "choose columns or a format below");

const dropZone = (take) => {
  const input = h("input", { type: "file", id: "files", multiple: true, class: "unseen", onchange: () => { take([...input.files]); input.value = ""; } });
  const zone = h(
    "div", { class: "drop-zone" },
    h("p", { class: "lead" }, "Drop files here"),
    h("p", { class: "quiet" }, "JSONL, JSON, CSV, Parquet or a workbook; an Inspect log or another tool's result file; a folder of results as a zip or tar archive"),
    input, h("label", { for: "files", class: "button primary" }, "Choose files"),
  );
  const over = (is) => (event) => { event.preventDefault(); zone.classList.toggle("over", is); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => { over(false)(event); take([...event.dataTransfer.files]); });
  return zone;
};

const remarks = ({ error, result }) => {
  if (error) return [error];
  const omitted = (result?.left_out ?? []).map((one) => `${plural(one.runs, "run")} not counted: ${one.reason}`);
  return [...(result?.notes ?? []), ...omitted];
};

const outcome = (lines) => [
  h("h2", {}, "What was added"),
  table([
    { title: "File", cell: (one) => one.name, css: "name" },
    { title: "Result", cell: (one) => h("span", { class: { added: "good", refused: "bad" }[one.state] }, one.state) },
    { title: "New tasks", numeric: true, cell: (one) => count(one.result?.tasks) },
    { title: "New executions", numeric: true, cell: (one) => count(one.result?.executions) },
    { title: "In the bank already", numeric: true, cell: (one) => count(one.result?.known.executions) },
    { title: "Remarks", cell: (one) => remarks(one).map((note) => h("p", { class: "small" }, note)), css: "question" },
  ], lines),
  lines.some((one) => one.state === "added") ? h("p", {}, h("a", { href: link("") }, "See what it says about your skills")) : null,
];

const formats = (frame) => h(
  "details", {},
  h("summary", {}, "What a file looks like"),
  h("p", {}, "The simplest one has a task per line: successes without the skill (y0) and with it (y1), one number per repetition. An empty list means that the task was not run that way; it never counts as a failure."),
  h("pre", { class: "command" }, '{"task_id": "t1", "text": "How many cans …", "family": "units", "skill": "warehouse-units", "agent": "my-agent", "y0": [0, 1], "y1": [1, 1]}'),
  h("p", {}, "The command line reads folders as they are; results stands for yours:"),
  h("pre", { class: "command" }, `skilldelta import results --explain\nskilldelta import results${bankOption(frame)}`),
);
