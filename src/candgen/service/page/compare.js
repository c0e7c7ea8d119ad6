// Two indexes, or two weights of one, side by side.

import { bars, scaleOf } from "./bars.js";
import { awaited, byId, counted, element, entityLink, nameOf, percent } from "./elements.js";
import { LatestRequest } from "./service.js";

export function compareView(page) {
  const request = new LatestRequest();
  const sides = [...document.querySelectorAll(".side")];

  async function show(state) {
    const signal = request.start();
    const questions = [state, { ...state, index: state.with, lam: state.withlam }];
    sides.forEach((side, place) => showTitle(side, questions[place]));
    const isSame = state.index === state.with && state.lam === state.withlam;
    byId("compare-one").hidden = !isSame;
    if (state.mention.trim() === "") {
      page.clearError();
      sides.forEach((side) => showAnswer(side, [], []));
      byId("compare-said").textContent = "Type a name to compare its candidates.";
      return;
    }
    const settled = await awaited(
      Promise.allSettled(questions.map((question) => page.service.candidates(question, signal))),
      byId("compare-said"),
    );
    if (signal.aborted) return;
    const [problem] = settled.filter(({ status }) => status === "rejected");
    const isLost = problem?.reason.status === 0; // the service cannot be reached
    if (isLost) page.showError(problem.reason);
    else page.clearError();
    const [left, right] = settled.map(({ value }) => value?.candidates ?? []);
    sides.forEach((side, place) => {
      const [mine, other] = place === 0 ? [left, right] : [right, left];
      showAnswer(side, mine, other, page.facts(questions[place].index));
      showProblem(side, isLost ? undefined : settled[place].reason);
    });
    byId("compare-said").textContent = problem === undefined ? summary(left, right) : "";
  }

  return { show, leave: () => request.stop() };
}

function showTitle(side, { index, lam }) {
  side.querySelector("h3").textContent = lam === "" ? index : `${index}, lam ${lam}`;
}

function showAnswer(side, mine, other, facts) {
  const scale = scaleOf(mine);
  const places = new Map(other.map(({ entity }, place) => [entity, place + 1]));
  side.querySelector("ol").replaceChildren(
    ...mine.map((each, place) => item(each, place + 1, places.get(each.entity), scale, facts)),
  );
  showProblem(side, undefined);
}

function showProblem(side, reason) {
  const problem = side.querySelector(".problem");
  problem.hidden = reason === undefined;
  problem.textContent = reason?.message ?? "";
}

function item(candidate, place, otherPlace, scale, facts) {
  const { entity, name, language, probability } = candidate;
  return element(
    "li", { class: "card", "data-entity": entity },
    element(
      "div", { class: "head" },
      element(
        "p", { class: "name" }, element("span", { class: "rank" }, `${place}`), nameOf(name, language),
      ),
      entityLink(entity), element("p", { class: "chance" }, percent(probability)),
    ),
    element("p", { class: "place" }, placed(place, otherPlace)),
    bars(candidate, scale, facts),
  );
}

/** The place of the same entity in the other list, as a sign and in words. */
function placed(place, otherPlace) {
  if (otherPlace === undefined) return "● only here";
  if (otherPlace === place) return "= same place in both";
  return place < otherPlace ? `▲ ${otherPlace} in the other` : `▼ ${otherPlace} in the other`;
}

function summary(left, right) {
  const others = new Set(right.map(({ entity }) => entity));
  const both = left.filter(({ entity }) => others.has(entity)).length;
  if (left.length + right.length === 0) return "No candidates in either index.";
  if (left.length === 0 || right.length === 0) return "Only one index has candidates.";
  const isSame = left[0].entity === right[0].entity;
  const first = isSame ? " Same first candidate." : " Different first candidates.";
  return `${left.length} and ${counted(right.length, "candidate")}, ${both} in both.${first}`;
}
