// The n-grams of a name as chips: those that an entity shares, and those that it does not.

import { element, nameOf, percent, shortNumber, unseen } from "./elements.js";

const WEAK = 0.01; // an n-gram that brings a smaller share of the score is next to nothing
const KINDS = [
  ["matched", "matched: shared with this entity; the bar is its part of the score"],
  ["weak", "weak: known from other entities only, or under 1 % of the score"],
  ["unknown", "unknown to the index"],
];
const MARKS = "^ and $ mark where the name begins and ends; ␣ is a space.";

/** The n-grams of a name by length; matched, weak and unknown ones differ without colour. */
export function ngrams(said, heading) {
  const chips = chipsOf(said);
  if (chips.length === 0) return [element("p", {}, "The name has no n-grams.")];
  const groups = groupsOf(chips);
  return [
    element(heading, { class: "part" }, "N-grams of ", element("q", {}, nameOf(said.normalized))),
    element("ul", { class: "chip-legend" }, ...KINDS.map(([kind, told]) => {
      const count = chips.filter((chip) => chip.kind === kind).length;
      return element("li", {}, sample(kind), ` ${count} ${told}`);
    })),
    element(
      "dl", { class: "ngrams" },
      ...[...groups].flatMap(([n, members]) => [
        element("dt", {}, n === 0 ? "words" : `n = ${n}`),
        element("dd", {}, element("ul", { class: "chips", dir: "auto" }, ...members.map(chipItem))),
      ]),
    ),
    ...(groups.has(0) ? [] : [element("p", { class: "note" }, MARKS)]),
  ];
}

/** The n-grams of a name in its order, each with its kind and what it brings. */
function chipsOf(said) {
  const total = said.prior + said.posterior;
  const values = said.tokens.map((part) => part.prior + part.posterior);
  const most = Math.max(...values, Number.MIN_VALUE);
  const shared = said.tokens.map((part, place) => {
    const value = values[place];
    const kind = value < WEAK * total ? "weak" : "matched";
    const told = `${kind}, brings ${shortNumber(value)}, ${percent(value / total)} of the score`;
    return { token: part.token, times: part.times, kind, weight: value / most, told };
  });
  const other = (kind, told) => (token) => ({ token, times: 1, kind, weight: 0, told });
  const chips = [
    ...shared,
    ...said.elsewhere.map(other("weak", "weak, known from other entities only")),
    ...said.unknown.map(other("unknown", "unknown to the index")),
  ];
  const text = [...`^${said.normalized}$`];
  return chips
    .map((chip) => ({ ...chip, place: placeOf(text, [...chip.token]) }))
    .sort((a, b) => a.place - b.place);
}

/** Where a token first stands in a text; * stands for any character where there are wildcards. */
function placeOf(text, token) {
  for (let start = 0; start + token.length <= text.length; start += 1) {
    if (token.every((each, i) => each === "*" || each === text[start + i])) return start;
  }
  return text.length;
}

/** By length, the shortest first; what has no marks of begin and end are words, in one group. */
function groupsOf(chips) {
  const marked = chips.some((chip) => chip.token.startsWith("^"));
  const groups = new Map();
  for (const chip of chips) {
    const n = marked ? [...chip.token].length : 0;
    groups.set(n, [...(groups.get(n) ?? []), chip]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}

function chipItem({ token, times, kind, weight, told }) {
  const shown = token.replaceAll(" ", "␣");
  const item = element(
    "li", { class: `chip ${kind}`, title: told },
    element(tagOf(kind), { class: "token" }, shown),
    times > 1 ? element("small", {}, ` ×${times}`) : null, unseen(`: ${told}`),
  );
  item.style.setProperty("--weight", weight);
  return item;
}

const tagOf = (kind) => (kind === "unknown" ? "s" : "span");

function sample(kind) {
  const text = element(tagOf(kind), {}, "ab");
  const made = element("span", { class: `chip ${kind}`, "aria-hidden": "true" }, text);
  made.style.setProperty("--weight", kind === "matched" ? 0.6 : 0);
  return made;
}
