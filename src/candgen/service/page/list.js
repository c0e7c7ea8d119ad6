// A list of names: sent in pieces, shown as a table, kept as a file.

import { byId, counted, element, entityLink, nameOf, percent, wholeNumber } from "./elements.js";
import { csvOf, download, jsonOf } from "./files.js";
import { Latest } from "./service.js";

const AT_ONCE = 400; // candidates in one answer: a second or so, and progress is seen
const SHOWN = 500; // rows of the table; files have all of them
const NEXT = 3; // candidates after the best one that a row shows

export function listView(page) {
  const asked = new Latest();
  let kept = { question: {}, results: [] };

  byId("list-form").addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  byId("list-stop").addEventListener("click", () => asked.stop());
  byId("csv").addEventListener("click", () => {
    download("candidates.csv", "text/csv", csvOf(kept.results));
  });
  byId("json").addEventListener("click", () => {
    download("candidates.json", "application/json", jsonOf(kept.question, kept.results));
  });

  async function find() {
    const state = page.state();
    const most = page.limits().mention;
    const names = namesIn(byId("names").value);
    const sent = names.filter(({ mention }) => [...mention].length <= most);
    if (names.length === 0) {
      say("There is no name in the list.");
      return;
    }
    kept = { question: questionOf(state), results: [] };
    byId("list-rows").replaceChildren();
    byId("list-result").hidden = true;
    await ask(names, sent, state);
  }

  /** Ask for those names of a list that have no answer yet. */
  async function ask(names, sent, state) {
    const limits = page.limits();
    page.allIsWell();
    const signal = asked.start();
    working(true, sent.length);
    try {
      for (const piece of pieces(sent.slice(kept.results.length), state, limits)) {
        const mentions = piece.map(({ mention }) => mention);
        const { results } = await page.service.candidatesOf(mentions, state, signal);
        add(piece.map((name, place) => ({ ...name, candidates: results[place].candidates })));
        byId("list-progress").value = kept.results.length;
        say(`${wholeNumber(kept.results.length)} of ${counted(sent.length, "name")}`);
      }
      say(`${counted(sent.length, "name")} looked for.${tooLong(names.length - sent.length, limits)}`);
    } catch (error) {
      if (!signal.aborted) page.complain(error, () => ask(names, sent, state));
      say(`Stopped after ${wholeNumber(kept.results.length)} of ${counted(sent.length, "name")}.`);
    }
    working(false, sent.length);
  }

  function add(results) {
    const room = Math.max(0, SHOWN - kept.results.length);
    kept.results.push(...results);
    byId("list-rows").append(...results.slice(0, room).map(row));
    byId("list-result").hidden = false;
    const found = kept.results.filter(({ candidates }) => candidates.length > 0).length;
    byId("list-caption").textContent =
      `${counted(kept.results.length, "name")}, ${wholeNumber(found)} with candidates ` +
      `of the index ${kept.question.index}`;
    byId("list-more").hidden = kept.results.length <= SHOWN;
    byId("list-more").textContent =
      `The first ${SHOWN} are shown; the files have all ${wholeNumber(kept.results.length)}.`;
  }

  function working(isWorking, all) {
    byId("list-start").disabled = isWorking;
    byId("list-stop").hidden = byId("list-progress").hidden = !isWorking;
    byId("list-progress").max = Math.max(all, 1);
    if (isWorking) byId("list-progress").value = kept.results.length;
    else if (document.activeElement === document.body) byId("list-start").focus();
  }

  return { show: page.allIsWell, leave: () => {} };
}

const say = (text) => { byId("list-said").textContent = text; };

const tooLong = (n, limits) =>
  n === 0 ? "" : ` ${counted(n, "line")} left out: over ${wholeNumber(limits.mention)} characters.`;

/** What a file tells of the question. */
function questionOf({ index, k, lam }) {
  return { index, ...(k !== "" && { k: Number(k) }), ...(lam !== "" && { lam: Number(lam) }) };
}

/** The names of a text, each with the number of its line. */
function namesIn(text) {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, place) => ({ line: place + 1, mention: line.trim().toWellFormed?.() ?? line.trim() }))
    .filter(({ mention }) => mention !== "");
}

/** Names in their order, in pieces that the service takes. */
function* pieces(names, { k }, limits) {
  const most = Math.max(1, Math.min(limits.batch, Math.floor(AT_ONCE / (Number(k) || 10))));
  const bytes = (name) => new TextEncoder().encode(JSON.stringify(name.mention)).length + 1;
  let piece = [];
  let size = 0;
  for (const name of names) {
    if (piece.length === most || (piece.length > 0 && size + bytes(name) > limits.body - 1000)) {
      yield piece;
      [piece, size] = [[], 0];
    }
    piece.push(name);
    size += bytes(name);
  }
  if (piece.length > 0) yield piece;
}

function row({ line, mention, candidates }) {
  const [best, ...others] = candidates;
  const name = element("th", { scope: "row" }, nameOf(mention));
  const number = element("td", { class: "figure" }, String(line));
  if (best === undefined) {
    const none = element("td", { colspan: "4", class: "none" }, "no candidates");
    return element("tr", {}, number, name, none);
  }
  const next = others.slice(0, NEXT).map((each) =>
    element(
      "li", {}, nameOf(each.name, each.language), " ", entityLink(each.entity),
      ` ${percent(each.probability)}`,
    ),
  );
  return element(
    "tr", {}, number, name,
    element(
      "td", {}, nameOf(best.name, best.language),
      best.description ? element("small", { dir: "auto" }, best.description) : null,
    ),
    element("td", {}, entityLink(best.entity)),
    element("td", { class: "figure" }, percent(best.probability)),
    element("td", {}, element("ul", { class: "next" }, ...next)),
  );
}
