// Library: what every skill of a harness costs per session, how often it is used, what is known of it, and what to do with it.
import { get } from "./api.js";
import { breakable, facts, h, overline, section } from "./elements.js";
import { link } from "./addresses.js";
import { count, plural, points, pointSpread } from "./numbers.js";
import { table } from "./tables.js";
import { chip, MEANINGS } from "./verdicts.js";

export const libraryPage = async ({ signal }) => {
  const { libraries, is_shown: isShown } = await get("v1/dashboard/library", {}, { signal });
  return h(
    "div", {},
    overline("Library"),
    h("h1", {}, headline(libraries, isShown)),
    h("p", { class: "quiet" }, isShown
      ? "The skills that the harnesses on this machine find in their folders. Session files are only read, and nothing but counts is kept."
      : "A server that other machines can reach does not show what lies in the folders of its user. Run skilldelta library HARNESS on your own machine."),
    libraries.map((one) => librarySection(one)),
    libraries.length
      ? h("details", {}, h("summary", {}, "What the verdicts mean"), facts(MEANINGS.map(([word, meaning]) => [chip(word), meaning])))
      : null,
  );
};

const headline = (libraries, isShown) => {
  if (!isShown) return "The library is shown on its own machine only";
  if (!libraries.length) return "No harness on this machine has a skill";
  const skills = libraries.reduce((sum, one) => sum + one.skills.length, 0);
  const tokens = libraries.reduce((sum, one) => sum + one.listing_tokens, 0);
  return `${plural(skills, "skill")}, ${count(tokens)} tokens per session for listing them`;
};

const librarySection = (library) => section(
  library.title,
  h("p", {}, `${library.summary}.`),
  table([
    { title: "Skill", cell: (one) => [named(one), h("small", {}, one.origin)], value: (one) => one.skill, css: "name" },
    { title: "Verdict", cell: (one) => chip(one.gain?.verdict ?? "not enough evidence"), value: (one) => one.gain?.verdict ?? "", css: "verdict-cell" },
    { title: "Points", numeric: true, css: "points", cell: (one) => gain(one), value: (one) => one.gain?.mean ?? null, hint: "Change of success in percentage points, on average over the recorded tasks" },
    { title: "Proposal", cell: (one) => [one.proposal, h("small", {}, one.reason)], value: (one) => one.proposal },
    { title: "Listed", numeric: true, cell: (one) => count(one.listing_tokens), value: (one) => one.listing_tokens, hint: "Tokens of its line in the list, in every session" },
    { title: "Loaded", numeric: true, cell: (one) => count(one.loaded_tokens), value: (one) => one.loaded_tokens, hint: "Tokens of its text, when it is loaded" },
    { title: "Used", numeric: true, cell: (one) => (one.loads === null ? "–" : count(one.loads)), value: (one) => one.loads, hint: "How often it was loaded in the sessions that the harness keeps" },
  ], library.skills, { sorted: { title: "Listed", descending: true }, first: 50 }),
  alike(library),
  library.problems.length ? h("details", {}, h("summary", {}, `${plural(library.problems.length, "file")} left out`), h("ul", {}, library.problems.map((one) => h("li", {}, one)))) : null,
  library.switchable && library.saves
    ? h("p", {}, "Write the proposals, and take them back, with", h("pre", { class: "command" }, `skilldelta library ${library.harness} --apply\nskilldelta library ${library.harness} --undo`))
    : null,
);

const named = (one) => (one.gain ? h("a", { href: link("skill", one.skill) }, breakable(one.skill)) : breakable(one.skill));

const gain = (one) => (one.gain ? [points(one.gain.mean), one.gain.low === null ? null : h("small", {}, pointSpread(one.gain))] : "–");

const alike = (library) => {
  const pairs = library.skills.filter((one) => one.overlap);
  if (!pairs.length) return null;
  return h("details", {}, h("summary", {}, `${plural(pairs.length, "skill")} like another one`),
    h("ul", {}, pairs.map((one) => h("li", {}, `${one.skill} offers about the same as ${one.overlap.skill} (similarity ${one.overlap.similarity.toFixed(2)})`))));
};
