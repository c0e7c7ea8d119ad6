// Elements made by script. Whatever came from outside is text: nothing here reads HTML.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element. Attributes that are null or false are left out; functions listen to events. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const LATE = 400; // milliseconds after which a person wonders

/** The answer to a question; where it takes long, `said` tells that it is on its way. */
export async function awaited(question, said) {
  const late = setTimeout(() => said.replaceChildren("Looking …"), LATE);
  try {
    return await question;
  } finally {
    clearTimeout(late);
  }
}

/** Words for those who listen to the page. */
export const unseen = (text) => element("span", { class: "unseen" }, text);

/** A name in its own language and direction, whatever stands around it. */
export const nameOf = (text, language) => element("bdi", { lang: language || null }, text);

const QID = /^Q[1-9][0-9]*$/;

/** An entity's id, or another text in its place; Wikidata's have a link. */
export function entityLink(entity, text = entity) {
  if (!QID.test(entity)) return element("bdi", { class: "entity" }, text);
  return element(
    "a",
    {
      class: "entity", href: `https://www.wikidata.org/wiki/${entity}`, target: "_blank",
      rel: "noopener noreferrer",
    },
    text, unseen(" on Wikidata, in a new tab"),
  );
}

/** A number to read, with the exact one inside. */
export const number = (value) => element("data", { value: String(value) }, shortNumber(value));

const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
const WHOLE = new Intl.NumberFormat("en");

export const shortNumber = (value) => SHORT.format(value + 0); // -0 + 0 is 0
export const wholeNumber = (value) => WHOLE.format(value);

/** A share in percent; what is neither nothing nor all, but for rounding, never looks like it. */
export function percent(share) {
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 1e-9) return "<1 %";
  if (rounded === 100 && share < 1 - 1e-9) return ">99 %";
  return `${rounded} %`;
}

/** "1 candidate", "2 candidates". */
export const counted = (n, one, many = `${one}s`) => `${wholeNumber(n)} ${n === 1 ? one : many}`;

const LANGUAGES = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** The English name of a language, or its code where it has none. */
export function languageName(code) {
  try {
    return LANGUAGES.of(code) ?? code;
  } catch {
    return code; // whoever builds an index may call its languages anything
  }
}
