// The explanation of a candidate: the n-grams it shares with the name, the names it was learned
// from and, for an index of two stages, the features that decided its place.

import {
  counted, element, entityLink, languageName, nameOf, number, percent, unseen, wholeNumber,
} from "./elements.js";
import { ngrams } from "./ngrams.js";

const SOURCES = 8; // names that are shown before "Show more"

const PROPERTIES = {
  score: "score in the first stage, relative to the best",
  likeness: "similarity of the name and the most similar name",
  frequency: "frequency of that name",
  popularity: "frequency of all its names",
  languages: "number of languages that have it",
  same: "whether it has exactly this name",
  cosine: "shared letter sequences, rare ones count more",
  coverage: "part of the mention that the name's words explain",
  words: "similarity of the words, rare ones count more",
  skeleton: "part of the mention that the consonants of the name's words explain",
  sitelinks: "number of its pages in all wikis",
};

/** The explanation of a candidate as elements. */
export function explanationOf(explanation) {
  const all = document.createDocumentFragment();
  if (explanation.properties === undefined) {
    all.append(firstStage(explanation, "h4"));
    return all;
  }
  all.append(...secondStage(explanation));
  if (explanation.first !== null) {
    all.append(element("h4", {}, "The first stage: how it was found"), firstStage(explanation.first, "h5"));
  }
  return all;
}

// ------------------------------------------------------------------- the first stage

function firstStage(explanation, heading) {
  return element(
    "div", { class: "found" },
    element("div", {}, ...ngrams(explanation, heading)),
    element("div", {}, ...sources(explanation.sources, heading)),
  );
}

function sources(mentions, heading) {
  if (mentions.length === 0) return [];
  const row = ({ mention, language, count }) =>
    element(
      "tr", {},
      element("th", { scope: "row" }, nameOf(mention, language)),
      element("td", {}, languageName(language), " ", element("small", {}, language)),
      element("td", { class: "figure" }, wholeNumber(count)),
    );
  const body = element("tbody", {}, ...mentions.slice(0, SOURCES).map(row));
  const rest = mentions.slice(SOURCES);
  const showAll = () => {
    body.append(...rest.map(row));
    const next = body.children[SOURCES].firstElementChild; // where a screen reader continues
    next.tabIndex = -1;
    next.focus();
    more.remove();
  };
  const label = `Show ${counted(rest.length, "more name")}`;
  const more = element("button", { type: "button", click: showAll }, label);
  return [
    element(heading, { class: "part" }, "Names it was learned from"),
    element(
      "table", { class: "sources" },
      element("thead", {}, headings("Name", "Language", "Count")), body,
    ),
    ...(rest.length > 0 ? [more] : []),
  ];
}

const headings = (...texts) =>
  element("tr", {}, ...texts.map((text) => element("th", { scope: "col" }, text)));

// ------------------------------------------------------------------- the second stage

function secondStage(explanation) {
  const before = explanation.place_in_first_stage;
  const moved = before === null
    ? "It was found by a translation of the name only."
    : `The first stage put it at ${before === explanation.place ? "the same place" : `place ${before}`}.`;
  return [
    element("h4", {}, `The second stage: why it is at place ${explanation.place}`), element("p", {}, moved),
    ...translation(explanation), ...spelling(explanation), ...properties(explanation),
  ];
}

function translation({ translation: text, words }) {
  if (text === null) return [];
  const each = words.flatMap(({ word, translation: meant, probability }, place) => [
    place > 0 ? ", " : "", nameOf(word), " is ", nameOf(meant), ` (${percent(probability)})`,
  ]);
  const colon = each.length > 0 ? ": " : "";
  return [element("p", {}, "Translated to ", quoted(text), colon, ...each, ".")];
}

const quoted = (name) => element("q", {}, nameOf(name));

function spelling({ spelling: name, normalized, edits }) {
  if (!name) return [element("p", {}, "It has no name to compare.")];
  if (name === normalized) return [element("p", {}, "It has exactly this name: ", quoted(name), ".")];
  return [
    element("h5", { class: "part" }, "Most similar name"),
    element("p", {}, quoted(name), " becomes ", quoted(normalized), " by these edits:"),
    element("ul", { class: "chips edits", dir: "auto" }, ...merged(edits).map(editItem)),
  ];
}

/** Edits in order; unchanged letters in a row are one edit. */
function merged(edits) {
  const parts = [];
  for (const { before, after } of edits) {
    const last = parts.at(-1);
    if (before === after && last?.before === last?.after && last !== undefined) {
      last.before += before;
      last.after += after;
    } else parts.push({ before, after });
  }
  return parts;
}

function editItem({ before, after }) {
  const [old, fresh] = [before, after].map((text) => nameOf(text.replaceAll(" ", "␣")));
  if (before === after) return element("li", { class: "kept" }, old, unseen(" stays"));
  const sign = (text) => element("span", { "aria-hidden": "true" }, text);
  const parts =
    before === "" ? [sign("+ "), fresh, unseen(" is added")]
    : after === "" ? [sign("− "), old, unseen(" is removed")]
    : [old, sign(" → "), unseen(" becomes "), fresh];
  return element("li", { class: "chip changed", dir: "ltr" }, ...parts);
}

function properties({ properties: all, leader, leader_name: leaderName }) {
  const figures = (...values) =>
    values.map((value) => element("td", { class: "figure" }, value === "" ? "" : number(value)));
  const sum = (field) => all.reduce((total, each) => total + each[field], 0);
  const leaderColumns = leader === null ? [] : [`Value of ${leader}`, "Difference"];
  const rows = all.map((each) =>
    element(
      "tr", {},
      element("th", { scope: "row" }, each.name, " ", element("small", {}, PROPERTIES[each.name] ?? "")),
      ...figures(each.value, each.weight, each.brings),
      ...(leader === null ? [] : figures(each.leader_value, each.ahead)),
    ),
  );
  const sums = element(
    "tr", {}, element("th", { scope: "row" }, "sum"), ...figures("", "", sum("brings")),
    ...(leader === null ? [] : figures("", sum("ahead"))),
  );
  return [
    element("h5", { class: "part" }, "Features"),
    ...(leader === null ? [] : [
      element("p", {}, "Compared with ", nameOf(leaderName ?? ""), " ", entityLink(leader), ":"),
    ]),
    element(
      "div", { class: "scroll", role: "region", "aria-label": "Features", tabindex: "0" },
      element(
        "table", { class: "properties" },
        element("thead", {}, headings("Feature", "Value", "Weight", "Contribution", ...leaderColumns)),
        element("tbody", {}, ...rows), element("tfoot", {}, sums),
      ),
    ),
  ];
}
