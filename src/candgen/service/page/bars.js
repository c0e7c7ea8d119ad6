// What a score is made of, as two bars over one another, and in numbers beside them.

import { counted, element, languageName, number, percent, unseen } from "./elements.js";

const PATTERNS = 8; // in page.css
const LEGEND = 6; // languages whose shares are told in numbers

/** How long the bars of several candidates are: the longest of them fills its place. */
export function scaleOf(candidates) {
  return Math.max(...candidates.map((each) => made(each)), Number.MIN_VALUE);
}

/** The bars of a candidate; nothing where the index cannot tell what its scores are made of. */
export function bars(candidate, scale, facts) {
  if (candidate.prior === undefined) return null;
  const shares = sharesOf(candidate, facts);
  const length = made(candidate) / scale;
  return element(
    "div", { class: "bars" },
    bar(length, [["prior", candidate.prior], ["posterior", candidate.posterior]]),
    scoreLegend(candidate, facts),
    bar(length, shares.map(({ pattern, share }) => [pattern, share])),
    languageLegend(shares),
  );
}

const made = (candidate) => (candidate.prior ?? 0) + (candidate.posterior ?? 0);

/** Segments side by side; the numbers are told by the legend. */
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
  const background = candidate.score - made(candidate);
  if (background > 1e-5 * candidate.score) parts.push(" + background ", number(background));
  return element("p", { class: "legend" }, ...score, " = ", ...parts);
}

function languageLegend(shares) {
  const told = shares.slice(0, LEGEND).map(({ language, share, pattern }) =>
    element(
      "span", { class: "language" }, swatch(pattern),
      element("abbr", { title: languageName(language) }, language), ` ${percent(share)}`,
    ),
  );
  const rest = shares.length - told.length;
  return element(
    "p", { class: "legend" }, unseen("by language: "), ...told,
    rest > 0 ? `and ${counted(rest, "more", "more")}` : null,
  );
}

const swatch = (kind) => element("span", { class: `swatch ${kind}`, "aria-hidden": "true" });

/** The languages that have a share, the largest first; each has one pattern in all candidates. */
function sharesOf(candidate, facts) {
  return Object.entries(candidate.languages)
    .filter(([, share]) => share > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([language, share]) => {
      const place = facts.languages.indexOf(language);
      return { language, share, pattern: `language-${Math.max(place, 0) % PATTERNS}` };
    });
}

/** Whether a second stage has put the candidates of the first one in order. */
export const isTwoStages = (facts) => facts.stages === 2;
