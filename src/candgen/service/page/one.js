// One name: its candidates as you type, and their explanations.

import { bars, isTwoStages, scaleOf } from "./bars.js";
import { awaited, byId, counted, element, entityLink, nameOf, percent, unseen } from "./elements.js";
import { explanationOf } from "./explanation.js";
import { LatestRequest } from "./service.js";
import { addressOf, readAddress } from "./state.js";

const LEGENDS = {
  one: "What the bars show",
  two:
    "The bars show the score of the first stage, which found the candidates; the order, the score " +
    "and the probability are those of the second stage",
};
const ANY_TYPE = new Set(["Q35120", "entity"]); // the type of entities without a type

export function oneView(page) {
  const list = byId("candidates");
  const candidatesRequest = new LatestRequest();
  const explainRequest = new LatestRequest();
  let shown = null; // the state whose candidates are in the list
  let isClosed = false; // whether the user has closed the last explanation

  list.addEventListener("keydown", (event) => walk(event, list));
  byId("mention").addEventListener("keydown", (event) => {
    const first = list.querySelector(".walk");
    if (event.key === "ArrowDown" && first !== null) {
      event.preventDefault();
      first.focus();
    }
  });

  /** Request the candidates of a state, and show them. */
  async function show(state) {
    const signal = candidatesRequest.start();
    if (state.mention.trim() === "") {
      page.clearError();
      showNothing("Type a name: its candidates appear as you type.");
      showExamples(page.facts(state.index));
      return;
    }
    list.setAttribute("aria-busy", "true");
    try {
      const question = page.service.candidates(state, signal);
      const { candidates } = await awaited(question, byId("one-said"));
      page.clearError();
      showCandidates(state, candidates);
    } catch (error) {
      if (signal.aborted) return;
      showNothing();
      page.showError(error);
    }
    list.setAttribute("aria-busy", "false");
  }

  function showNothing(...message) {
    explainRequest.stop();
    list.replaceChildren();
    list.setAttribute("aria-busy", "false");
    byId("one-said").replaceChildren(...message);
    byId("one-legend").hidden = byId("one-keys").hidden = byId("one-examples").hidden = true;
  }

  function showExamples({ examples, language }) {
    const links = examples.flatMap((mention, place) => [
      place > 0 ? ", " : " ",
      element(
        "a",
        {
          href: addressOf({ ...readAddress(location.hash), mention }),
          click: () => byId("main").focus(), // the link disappears
        },
        nameOf(mention, language),
      ),
    ]);
    byId("one-examples").replaceChildren("For example:", ...links);
    byId("one-examples").hidden = examples.length === 0;
  }

  function showCandidates(state, candidates) {
    if (candidates.length === 0) {
      showNothing("No candidates: this index knows no part of ", nameOf(state.mention), ".");
      return;
    }
    shown = state;
    const facts = page.facts(state.index);
    const scale = scaleOf(candidates);
    const before = list.querySelector(".why:not([hidden])");
    list.replaceChildren(
      ...candidates.map((each, place) => candidateItem(each, place, scale, facts, toggle)),
    );
    const count = counted(candidates.length, "candidate");
    byId("one-said").replaceChildren(`${count} for `, nameOf(state.mention));
    byId("one-legend").hidden = !facts.explains;
    byId("one-legend").firstElementChild.textContent = LEGENDS[isTwoStages(facts) ? "two" : "one"];
    byId("one-keys").hidden = false;
    byId("one-enter").hidden = !facts.explains;
    byId("one-mute").hidden = facts.explains;
    byId("one-examples").hidden = true;
    if (facts.explains) openOne(state, candidates, before);
  }

  /** Open the chosen candidate, or the first; its old explanation stays until the new one comes. */
  function openOne(state, candidates, before) {
    const chosen = candidates.some((each) => each.entity === state.entity);
    if (isClosed && !chosen) return;
    const entity = chosen ? state.entity : candidates[0].entity;
    const item = [...list.children].find((each) => each.dataset.entity === entity);
    if (before?.dataset.entity === entity) item.querySelector(".why").append(...before.childNodes);
    open(item);
  }

  function toggle(item) {
    const wasOpen = item.querySelector("button").getAttribute("aria-expanded") === "true";
    if (wasOpen) close(item);
    else open(item);
    isClosed = wasOpen;
    page.remember({ entity: wasOpen ? "" : item.dataset.entity });
  }

  function close(item) {
    item.querySelector("button").setAttribute("aria-expanded", "false");
    item.querySelector(".why").hidden = true;
  }

  async function open(item) {
    [...list.children].forEach(close);
    const why = item.querySelector(".why");
    const signal = explainRequest.start();
    item.querySelector("button").setAttribute("aria-expanded", "true");
    why.hidden = false;
    why.setAttribute("aria-busy", "true");
    try {
      const explanation = await page.service.explain(shown, item.dataset.entity, signal);
      why.replaceChildren(explanationOf(explanation));
    } catch (error) {
      if (signal.aborted) return;
      why.replaceChildren(element("p", { class: "problem" }, error.message));
    }
    why.setAttribute("aria-busy", "false");
  }

  return { show, leave: () => { candidatesRequest.stop(); explainRequest.stop(); } };
}

function candidateItem(candidate, place, scale, facts, toggle) {
  const { entity, name, language, description, types, probability } = candidate;
  const why = element("div", { class: "why", id: `why-${place}`, "data-entity": entity, hidden: true });
  const title = [element("span", { class: "rank" }, `${place + 1}`), nameOf(name, language)];
  const button = {
    type: "button", class: "walk", "aria-expanded": "false", "aria-controls": why.id,
    click: () => toggle(item),
  };
  const heading = facts.explains
    ? element("button", button, ...title, unseen(": explanation"))
    : element("span", { class: "walk", tabindex: "-1" }, ...title);
  const item = element(
    "li", { class: "candidate card", "data-entity": entity },
    element(
      "div", { class: "head" },
      element("h3", {}, heading), entityLink(entity), chance(probability),
    ),
    describe(description, types),
    bars(candidate, scale, facts),
    facts.explains ? why : null,
  );
  return item;
}

function chance(probability) {
  const exact = element("data", { value: String(probability) }, percent(probability));
  return element("p", { class: "chance" }, exact, " ", element("small", {}, "probability"));
}

function describe(description, types) {
  const known = types.filter((type) => !ANY_TYPE.has(type.id));
  if (!description && known.length === 0) return null;
  const links = known.flatMap((type, place) => [place > 0 ? ", " : " is a ", entityLink(type.id, type.name)]);
  return element("p", { class: "description" }, element("bdi", {}, description), ...links);
}

/** Arrow keys, Home and End move between candidates; Escape returns to the name. */
function walk(event, list) {
  if (event.key === "Escape") byId("mention").focus();
  const stops = [...list.querySelectorAll(".walk")];
  const here = stops.indexOf(document.activeElement);
  if (here < 0) return;
  const next = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: stops.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  (next < 0 ? byId("mention") : stops[Math.min(next, stops.length - 1)]).focus();
}
