// A list of names: sent in batches, shown as a table, downloaded as a file.

import { byId, counted, element, entityLink, nameOf, percent, wholeNumber } from "./elements.js";
import { csvOf, download, jsonOf } from "./files.js";
import { LatestRequest } from "./service.js";

const CANDIDATES_PER_REQUEST = 400; // so few that the progress is visible
const MAX_ROWS = 500; // of the table; the downloads have all
const OTHERS = 3; // candidates in a row, after the best one

export function listView(page) {
  const request = new LatestRequest();
  let kept = { parameters: {}, results: [] };

  byId("list-form").addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  byId("list-stop").addEventListener("click", () => request.stop());
  byId("csv").addEventListener("click", () => {
    download("candidates.csv", "text/csv", csvOf(kept.results));
  });
  byId("json").addEventListener("click", () => {
    download("candidates.json", "application/json", jsonOf(kept.parameters, kept.results));
  });

  async function find() {
    const state = page.state();
    const most = page.limits().mention;
    const names = namesIn(byId("names").value);
    const sent = names.filter(({ mention }) => [...mention].length <= most);
    if (names.length === 0) {
      say("The list is empty.");
      return;
    }
    kept = { parameters: parametersOf(state), results: [] };
    byId("list-rows").replaceChildren();
    byId("list-result").hidden = true;
    await ask(names, sent, state);
  }

  /** Send the names that have no answer yet. */
  async function ask(names, sent, state) {
    const limits = page.limits();
    page.clearError();
    const signal = request.start();
    working(true, sent.length);
    try {
      for (const batch of batches(sent.slice(kept.results.length), state, limits)) {
        const mentions = batch.map(({ mention }) => mention);
        const { results } = await page.service.candidatesOf(mentions, state, signal);
        add(batch.map((name, place) => ({ ...name, candidates: results[place].candidates })));
        byId("list-progress").value = kept.results.length;
        say(`${wholeNumber(kept.results.length)} of ${counted(sent.length, "name")}`);
      }
      say(`${counted(sent.length, "name")} processed.${tooLong(names.length - sent.length, limits)}`);
    } catch (error) {
      if (!signal.aborted) page.showError(error, () => ask(names, sent, state));
      say(`Stopped after ${wholeNumber(kept.results.length)} of ${counted(sent.length, "name")}.`);
    }
    working(false, sent.length);
  }

  function add(results) {
    const room = Math.max(0, MAX_ROWS - kept.results.length);
    kept.results.push(...results);
    byId("list-rows").append(...results.slice(0, room).map(row));
    byId("list-result").hidden = false;
    const found = kept.results.filter(({ candidates }) => candidates.length > 0).length;
    byId("list-caption").textContent =
      `${counted(kept.results.length, "name")}, ${wholeNumber(found)} with candidates ` +
      `in the index ${kept.parameters.index}`;
    byId("list-more").hidden = kept.results.length <= MAX_ROWS;
    byId("list-more").textContent =
      `Showing the first ${MAX_ROWS}; the downloads have all ${wholeNumber(kept.results.length)}.`;
  }

  function working(isWorking, all) {
    byId("list-start").disabled = isWorking;
    byId("list-stop").hidden = byId("list-progress").hidden = !isWorking;
    byId("list-progress").max = Math.max(all, 1);
    if (isWorking) byId("list-progress").value = kept.results.length;
    else if (document.activeElement === document.body) byId("list-start").focus();
  }

  return { show: page.clearError, leave: () => {} };
}

const say = (text) => { byId("list-said").textContent = text; };

const tooLong = (n, limits) =>
  n === 0 ? "" : ` ${counted(n, "line")} skipped: over ${wholeNumber(limits.mention)} characters.`;

/** The parameters, for the JSON file. */
function parametersOf({ index, k, lam }) {
  return { index, ...(k !== "" && { k: Number(k) }), ...(lam !== "" && { lam: Number(lam) }) };
}

/** The names in a text, each with its line number. */
function namesIn(text) {
  return text
    .split(/\r\n|\r|\n/)
    .map((line, place) => ({ line: place + 1, mention: line.trim().toWellFormed?.() ?? line.trim() }))
    .filter(({ mention }) => mention !== "");
}

/** Names in their order, in batches within the limits of the service. */
function* batches(names, { k }, limits) {
  const few = Math.floor(CANDIDATES_PER_REQUEST / (Number(k) || 10));
  const most = Math.max(1, Math.min(limits.batch, few));
  const bytes = (name) => new TextEncoder().encode(JSON.stringify(name.mention)).length + 1;
  const characters = ({ mention }) => [...mention].length;
  let batch = [];
  let size = 0;
  let length = 0;
  for (const name of names) {
    const isTooLarge =
      size + bytes(name) > limits.body - 1000 || length + characters(name) > limits.characters;
    if (batch.length === most || (batch.length > 0 && isTooLarge)) {
      yield batch;
      [batch, size, length] = [[], 0, 0];
    }
    batch.push(name);
    size += bytes(name);
    length += characters(name);
  }
  if (batch.length > 0) yield batch;
}

function row({ line, mention, candidates }) {
  const [best, ...others] = candidates;
  const name = element("th", { scope: "row" }, nameOf(mention));
  const number = element("td", { class: "figure" }, String(line));
  if (best === undefined) {
    const none = element("td", { colspan: "4", class: "none" }, "no candidates");
    return element("tr", {}, number, name, none);
  }
  const next = others.slice(0, OTHERS).map((each) =>
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
