// Why an entity is a candidate: the n-grams it shares with the name, the names that made it, and,
// of an index of two stages, what moved it to its place.

import {
  counted, element, entityLink, languageName, nameOf, number, percent, unseen, wholeNumber,
} from "./elements.js";
import { ngrams } from "./ngrams.js";

const SOURCES = 8; // names that are shown at first

const PROPERTIES = {
  score: "its score in the first stage, beside the best one’s",
  likeness: "how alike the name and its likest name are",
  frequency: "how often that name is used",
  popularity: "how often all its names are used",
  languages: "how many languages have it",
  same: "whether the name is one of its own",
};

/** All that the service says of a candidate. */
export function explanationOf(said) {
  const all = document.createDocumentFragment();
  if (said.properties === undefined) {
    all.append(firstStage(said, "h4"));
    return all;
  }
  all.append(...secondStage(said));
  if (said.first !== null) {
    all.append(element("h4", {}, "The first stage: how it was found"), firstStage(said.first, "h5"));
  }
  return all;
}

// ------------------------------------------------------------------- the first stage

function firstStage(said, heading) {
  return element(
    "div", { class: "found" },
    element("div", {}, ...ngrams(said, heading)),
    element("div", {}, ...sources(said.sources, heading)),
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
    const next = body.children[SOURCES].firstElementChild; // where reading goes on
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
      element("thead", {}, headings("Name", "Language", "Seen")), body,
    ),
    ...(rest.length > 0 ? [more] : []),
  ];
}

const headings = (...texts) =>
  element("tr", {}, ...texts.map((text) => element("th", { scope: "col" }, text)));

// ------------------------------------------------------------------- the second stage

function secondStage(said) {
  const before = said.place_in_first_stage;
  const moved = before === null
    ? "Only a translation of the name found it."
    : `The first stage had it ${before === said.place ? "there, too" : `at place ${before}`}.`;
  return [
    element("h4", {}, `The second stage: why it is at place ${said.place}`), element("p", {}, moved),
    ...translation(said), ...spelling(said), ...properties(said),
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
  if (!name) return [element("p", {}, "It has no name that could be compared.")];
  if (name === normalized) return [element("p", {}, "It has this very name: ", quoted(name), ".")];
  return [
    element("h5", { class: "part" }, "The likest name"),
    element("p", {}, quoted(name), " becomes ", quoted(normalized), " by"),
    element("ul", { class: "chips edits", dir: "auto" }, ...merged(edits).map(editItem)),
  ];
}

/** Edits in order, where those that keep a letter are one. */
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
    : after === "" ? [sign("− "), old, unseen(" goes")]
    : [old, sign(" → "), unseen(" becomes "), fresh];
  return element("li", { class: "chip changed", dir: "ltr" }, ...parts);
}

function properties({ properties: all, leader, leader_name: leaderName }) {
  const figures = (...values) =>
    values.map((value) => element("td", { class: "figure" }, value === "" ? "" : number(value)));
  const sum = (field) => all.reduce((total, each) => total + each[field], 0);
  const beside = leader === null ? [] : [`Value of ${leader}`, "Ahead by"];
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
    element("h5", { class: "part" }, "What put it there"),
    ...(leader === null ? [] : [
      element("p", {}, "Compared with ", nameOf(leaderName ?? ""), " ", entityLink(leader), ":"),
    ]),
    element(
      "div", { class: "scroll", role: "region", "aria-label": "What put it there", tabindex: "0" },
      element(
        "table", { class: "properties" },
        element("thead", {}, headings("Property", "Value", "Weight", "Brings", ...beside)),
        element("tbody", {}, ...rows), element("tfoot", {}, sums),
      ),
    ),
  ];
}
