// Functions that make elements. Data are inserted as text only, never as HTML.

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** A new element. Null and false attributes are omitted; functions are event listeners. */
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

const BUSY_DELAY = 400; // milliseconds until the page says that it is searching

/** The result of a promise; `status` shows a message if it takes long. */
export async function awaited(promise, status) {
  const late = setTimeout(() => status.replaceChildren("Searching …"), BUSY_DELAY);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
}

/** Text for screen readers only. */
export const unseen = (text) => element("span", { class: "unseen" }, text);

/** A name in its own language and text direction. */
export const nameOf = (text, language) => element("bdi", { lang: language || null }, text);

const QID = /^Q[1-9][0-9]*$/;

/** The id of an entity, or another text; Wikidata items are links. */
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

/** A rounded number, with the exact one as its value. */
export const number = (value) => element("data", { value: String(value) }, shortNumber(value));

const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 4, useGrouping: false });
const WHOLE = new Intl.NumberFormat("en");

export const shortNumber = (value) => SHORT.format(value + 0); // -0 + 0 is 0
export const wholeNumber = (value) => WHOLE.format(value);

/** A share in percent; only exact values are shown as 0 % and 100 %. */
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
    return code; // an index may have any language codes
  }
}
