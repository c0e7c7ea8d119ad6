// The n-grams of a name as chips: those that an entity shares, and the others.

import { element, nameOf, percent, shortNumber, unseen } from "./elements.js";

const WEAK = 0.01; // share of the score below which an n-gram is weak
const KINDS = [
  ["matched", "matched: shared with this entity; the bar is its share of the score"],
  ["weak", "weak: known from other entities only, or under 1 % of the score"],
  ["unknown", "unknown to the index"],
];
const MARKS = "^ and $ mark the start and the end of the name; ␣ is a space.";

/** The n-grams of a name by length; the three kinds differ in more than colour. */
export function ngrams(explanation, heading) {
  const chips = chipsOf(explanation);
  if (chips.length === 0) return [element("p", {}, "The name has no n-grams.")];
  const groups = groupsOf(chips);
  return [
    element(heading, { class: "part" }, "N-grams of ", element("q", {}, nameOf(explanation.normalized))),
    element("ul", { class: "chip-legend" }, ...KINDS.map(([kind, title]) => {
      const count = chips.filter((chip) => chip.kind === kind).length;
      return element("li", {}, sample(kind), ` ${count} ${title}`);
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

/** The n-grams of a name in its order, each with its kind and its part of the score. */
function chipsOf(explanation) {
  const total = explanation.prior + explanation.posterior;
  const values = explanation.tokens.map((part) => part.prior + part.posterior);
  const most = Math.max(...values, Number.MIN_VALUE);
  const shared = explanation.tokens.map((part, place) => {
    const value = values[place];
    const kind = value < WEAK * total ? "weak" : "matched";
    const title = `${kind}, adds ${shortNumber(value)}, ${percent(value / total)} of the score`;
    return { token: part.token, times: part.times, kind, weight: value / most, title };
  });
  const other = (kind, title) => (token) => ({ token, times: 1, kind, weight: 0, title });
  const chips = [
    ...shared,
    ...explanation.elsewhere.map(other("weak", "weak, known from other entities only")),
    ...explanation.unknown.map(other("unknown", "unknown to the index")),
  ];
  const text = [...`^${explanation.normalized}$`];
  return chips
    .map((chip) => ({ ...chip, place: placeOf(text, [...chip.token]) }))
    .sort((a, b) => a.place - b.place);
}

/** The first place of a token in a text; * in a token with wildcards is any character. */
function placeOf(text, token) {
  for (let start = 0; start + token.length <= text.length; start += 1) {
    if (token.every((each, i) => each === "*" || each === text[start + i])) return start;
  }
  return text.length;
}

/** Groups by length, the shortest first; tokens without marks are words, in one group. */
function groupsOf(chips) {
  const marked = chips.some((chip) => chip.token.startsWith("^"));
  const groups = new Map();
  for (const chip of chips) {
    const n = marked ? [...chip.token].length : 0;
    groups.set(n, [...(groups.get(n) ?? []), chip]);
  }
  return new Map([...groups].sort(([a], [b]) => a - b));
}

function chipItem({ token, times, kind, weight, title }) {
  const shown = token.replaceAll(" ", "␣");
  const item = element(
    "li", { class: `chip ${kind}`, title },
    element(tagOf(kind), { class: "token" }, shown),
    times > 1 ? element("small", {}, ` ×${times}`) : null, unseen(`: ${title}`),
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
