// One name: its candidates as you type, and why each is one.

import { bars, isTwoStages, scaleOf } from "./bars.js";
import { awaited, byId, counted, element, entityLink, nameOf, percent, unseen } from "./elements.js";
import { explanationOf } from "./explanation.js";
import { Latest } from "./service.js";
import { addressOf, readAddress } from "./state.js";

const LEGENDS = {
  one: "What the bars show",
  two:
    "The bars show the first stage, which found the candidates; the second stage put them in this " +
    "order, with a score and a probability of its own",
};
const ANY_TYPE = new Set(["Q35120", "entity"]); // the type of all that has no other

export function oneView(page) {
  const list = byId("candidates");
  const asked = new Latest();
  const explained = new Latest();
  let shown = null; // the state whose candidates are in the list
  let isShut = false; // whether the visitor has closed the last explanation

  list.addEventListener("keydown", (event) => walk(event, list));
  byId("mention").addEventListener("keydown", (event) => {
    const first = list.querySelector(".walk");
    if (event.key === "ArrowDown" && first !== null) {
      event.preventDefault();
      first.focus();
    }
  });

  /** Ask for the candidates of a state, and show them. */
  async function show(state) {
    const signal = asked.start();
    if (state.mention.trim() === "") {
      page.allIsWell();
      showNothing("Type a name, as you found it spelled: its candidates appear as you type.");
      showExamples(page.facts(state.index));
      return;
    }
    list.setAttribute("aria-busy", "true");
    try {
      const question = page.service.candidates(state, signal);
      const { candidates } = await awaited(question, byId("one-said"));
      page.allIsWell();
      showCandidates(state, candidates);
    } catch (error) {
      if (signal.aborted) return;
      showNothing();
      page.complain(error);
    }
    list.setAttribute("aria-busy", "false");
  }

  function showNothing(...said) {
    explained.stop();
    list.replaceChildren();
    list.setAttribute("aria-busy", "false");
    byId("one-said").replaceChildren(...said);
    byId("one-legend").hidden = byId("one-keys").hidden = byId("one-examples").hidden = true;
  }

  function showExamples({ examples, language }) {
    const links = examples.flatMap((mention, place) => [
      place > 0 ? ", " : " ",
      element(
        "a",
        {
          href: addressOf({ ...readAddress(location.hash), mention }),
          click: () => byId("main").focus(), // the link goes away
        },
        nameOf(mention, language),
      ),
    ]);
    byId("one-examples").replaceChildren("For example:", ...links);
    byId("one-examples").hidden = examples.length === 0;
  }

  function showCandidates(state, candidates) {
    if (candidates.length === 0) {
      showNothing("No candidates: no part of ", nameOf(state.mention), " is known to this index.");
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

  /** Open the candidate that is chosen, or else the first; what is shown of it stays till then. */
  function openOne(state, candidates, before) {
    const chosen = candidates.some((each) => each.entity === state.entity);
    if (isShut && !chosen) return;
    const entity = chosen ? state.entity : candidates[0].entity;
    const item = [...list.children].find((each) => each.dataset.entity === entity);
    if (before?.dataset.entity === entity) item.querySelector(".why").append(...before.childNodes);
    open(item);
  }

  function toggle(item) {
    const wasOpen = item.querySelector("button").getAttribute("aria-expanded") === "true";
    if (wasOpen) close(item);
    else open(item);
    isShut = wasOpen;
    page.remember({ entity: wasOpen ? "" : item.dataset.entity });
  }

  function close(item) {
    item.querySelector("button").setAttribute("aria-expanded", "false");
    item.querySelector(".why").hidden = true;
  }

  async function open(item) {
    [...list.children].forEach(close);
    const why = item.querySelector(".why");
    const signal = explained.start();
    item.querySelector("button").setAttribute("aria-expanded", "true");
    why.hidden = false;
    why.setAttribute("aria-busy", "true");
    try {
      const said = await page.service.explain(shown, item.dataset.entity, signal);
      why.replaceChildren(explanationOf(said));
    } catch (error) {
      if (signal.aborted) return;
      why.replaceChildren(element("p", { class: "problem" }, error.message));
    }
    why.setAttribute("aria-busy", "false");
  }

  return { show, leave: () => { asked.stop(); explained.stop(); } };
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
    ? element("button", button, ...title, unseen(": why"))
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

/** Arrow keys, Home and End walk from candidate to candidate; Escape goes back to the name. */
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
