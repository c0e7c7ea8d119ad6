// The parts of a score as two bars, and in numbers.

import { counted, element, languageName, number, percent, unseen } from "./elements.js";

const PATTERNS = 8; // in page.css
const MAX_LANGUAGES = 6; // in the legend

/** The scale of the bars of several candidates: the longest has the full width. */
export function scaleOf(candidates) {
  return Math.max(...candidates.map((each) => sumOf(each)), Number.MIN_VALUE);
}

/** The bars of a candidate; null if the index cannot break its scores down. */
export function bars(candidate, scale, facts) {
  if (candidate.prior === undefined) return null;
  const shares = sharesOf(candidate, facts);
  const length = sumOf(candidate) / scale;
  return element(
    "div", { class: "bars" },
    bar(length, [["prior", candidate.prior], ["posterior", candidate.posterior]]),
    scoreLegend(candidate, facts),
    bar(length, shares.map(({ pattern, share }) => [pattern, share])),
    languageLegend(shares),
  );
}

const sumOf = (candidate) => (candidate.prior ?? 0) + (candidate.posterior ?? 0);

/** Segments side by side; the numbers are in the legend. */
function bar(length, parts) {
  const filled = element("div", { class: "filled" });
  filled.style.inlineSize = `${100 * length}%`;
  const total = parts.reduce((sum, [, value]) => sum + value, 0);
  for (const [kind, value] of parts.filter(([, part]) => part > 0)) {
    const segment = element("span", { class: `segment ${kind}` });
    segment.style.flexGrow = (100 * value) / total; // below 1 they would leave a gap
    filled.append(segment);
  }
  return element("div", { class: "bar", "aria-hidden": "true" }, filled);
}

function scoreLegend(candidate, facts) {
  const parts = [
    swatch("prior"), "prior ", number(candidate.prior), " + ",
    swatch("posterior"), "posterior ", number(candidate.posterior),
  ];
  const score = ["score ", number(candidate.score)];
  if (isTwoStages(facts)) {
    return element("p", { class: "legend" }, "first stage: ", ...parts, "; ", ...score);
  }
  const background = candidate.score - sumOf(candidate);
  if (background > 1e-5 * candidate.score) parts.push(" + background ", number(background));
  return element("p", { class: "legend" }, ...score, " = ", ...parts);
}

function languageLegend(shares) {
  const items = shares.slice(0, MAX_LANGUAGES).map(({ language, share, pattern }) =>
    element(
      "span", { class: "language" }, swatch(pattern),
      element("abbr", { title: languageName(language) }, language), ` ${percent(share)}`,
    ),
  );
  const rest = shares.length - items.length;
  return element(
    "p", { class: "legend" }, unseen("by language: "), ...items,
    rest > 0 ? `and ${counted(rest, "more", "more")}` : null,
  );
}

const swatch = (kind) => element("span", { class: `swatch ${kind}`, "aria-hidden": "true" });

/** The languages with a share, the largest first; a language has the same pattern everywhere. */
function sharesOf(candidate, facts) {
  return Object.entries(candidate.languages)
    .filter(([, share]) => share > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([language, share]) => {
      const place = facts.languages.indexOf(language);
      return { language, share, pattern: `language-${Math.max(place, 0) % PATTERNS}` };
    });
}

/** Whether a second stage reorders the candidates of the first. */
export const isTwoStages = (facts) => facts.stages === 2;
