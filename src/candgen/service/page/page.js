// The page: one state, told by its address, and four views of it.

import { compareView } from "./compare.js";
import { byId, counted, element, languageName, shortNumber, wholeNumber } from "./elements.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";
import { programsView } from "./programs.js";
import { Service } from "./service.js";
import { addressOf, readAddress } from "./state.js";

const PAUSE = 120; // milliseconds without a key press after which it is worth asking
const INPUTS = ["mention", "index", "k", "lam", "with", "withlam"];

let state = readAddress(location.hash);
let known = { default: "", indexes: [], broken: [], limits: {} };
let waiting = 0;

const page = {
  service: new Service(askForKey),
  state: asked,
  remember: change,
  facts: (name) => known.indexes.find((each) => each.name === name),
  limits: () => known.limits,
  complain,
  allIsWell: () => { byId("problem").hidden = true; },
};
const views = {
  one: oneView(page), list: listView(page), compare: compareView(page), programs: programsView(page),
};

/** The state with what goes without saying, and without what means nothing to its indexes. */
function asked() {
  const index = page.facts(state.index) ? state.index : (known.indexes[0]?.name ?? "");
  const other = known.indexes.find((each) => each.name !== index)?.name ?? index;
  const second = page.facts(state.with) ? state.with : other;
  const lam = page.facts(index)?.lam === null ? "" : state.lam;
  const withlam = page.facts(second)?.lam === null ? "" : state.withlam;
  return { ...state, mention: wellFormed(state.mention), index, lam, with: second, withlam };
}

// Half a character, which a keyboard should not give, is no text.
const wellFormed = (text) => text.toWellFormed?.() ?? text;

/** Change the state and the address that tells it. */
function change(part) {
  state = { ...state, ...part };
  history.replaceState(null, "", addressOf(state));
  linkViews();
}

function linkViews() {
  for (const link of document.querySelectorAll("[data-view]")) {
    link.href = addressOf({ ...state, view: link.dataset.view });
    if (link.dataset.view === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Show the state: in the fields, and in the view that it is about. */
function show() {
  clearTimeout(waiting);
  const now = asked();
  for (const id of INPUTS) {
    if (byId(id).value !== now[id]) byId(id).value = now[id];
  }
  showFacts(now);
  for (const [name, view] of Object.entries(views)) {
    byId(name).hidden = name !== state.view;
    if (name !== state.view) view.leave();
  }
  byId("mention-field").hidden = state.view === "list";
  document.title = state.mention && state.view !== "list" ? `${state.mention} – candgen` : "candgen";
  linkViews();
  if (known.indexes.length > 0) views[state.view].show(now);
}

/** What may be chosen of the indexes, and what they are made of. */
function showFacts(now) {
  const facts = page.facts(now.index);
  showLam(byId("lam"), facts);
  showLam(byId("withlam"), page.facts(now.with));
  byId("mention").lang = facts?.language ?? "";
  byId("names").lang = facts?.language ?? "";
  const wanted = state.index !== "" && facts !== undefined && state.index !== now.index
    ? `There is no index ${state.index} here: this is ${now.index}. ` : "";
  byId("about-index").textContent = facts === undefined ? "" : wanted + about(facts);
}

function showLam(field, facts) {
  field.disabled = facts === undefined || facts.lam === null;
  field.placeholder = facts === undefined ? "" : facts.lam === null ? "fixed" : shortNumber(facts.lam);
}

function about(facts) {
  const names = facts.languages.map(languageName);
  const learned = names.length === 0 ? "" : ` learned from ${new Intl.ListFormat("en").format(names)};`;
  const entities = facts.entities === null ? "" : ` ${wholeNumber(facts.entities)} entities;`;
  const probabilities = facts.calibrated_on > 0
    ? ` probabilities learned from ${counted(facts.calibrated_on, "query", "queries")}`
    : " probabilities are estimates, as there were no queries to learn them from";
  const fixed = facts.lam === null ? "; lam cannot be chosen" : "";
  const of = facts.language ? `For ${languageName(facts.language)}:` : "This index:";
  return `${of}${learned}${entities}${probabilities}${fixed}.`;
}

/** The sentence that says what is wrong, and a way to try again where that may help. */
function complain(error, retry = show) {
  const isGone = error.status === 404; // there may be other indexes by now
  const again = element("button", {
    type: "button",
    click: () => {
      byId("main").focus();
      if (isGone || known.indexes.length === 0) start();
      else retry();
    },
  }, "Try again");
  const helps = isGone || !(error.status >= 402 && error.status < 500); // else it makes no sense
  byId("problem").replaceChildren(element("p", {}, error.message), ...(helps ? [again] : []));
  byId("problem").hidden = false;
}

function askForKey(problem) {
  const dialog = byId("key-dialog");
  const said = (text) => {
    byId("key-problem").textContent = text;
    byId("key-problem").hidden = text === "";
  };
  said(problem);
  byId("key").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  byId("key-form").onsubmit = (event) => {
    event.preventDefault();
    if (/^[\x21-\x7e]+$/.test(byId("key").value)) dialog.close("given");
    else said("A key has no spaces and no letters beyond ASCII.");
  };
  byId("key-cancel").onclick = () => dialog.close("");
  return new Promise((resolve) => {
    dialog.onclose = () => {
      const key = dialog.returnValue === "given" ? byId("key").value : null;
      byId("key").value = "";
      resolve(key);
    };
  });
}

function fillIndexes() {
  for (const id of ["index", "with"]) {
    byId(id).replaceChildren(
      ...known.indexes.map(({ name }) => element("option", { value: name }, name)),
      ...known.broken.map((name) =>
        element("option", { value: name, disabled: true }, `${name} (damaged)`),
      ),
    );
  }
  byId("k").max = known.limits.k;
}

async function start() {
  try {
    known = await page.service.indexes();
  } catch (error) {
    complain(error);
    show();
    return;
  }
  page.allIsWell();
  const first = known.indexes.findIndex(({ name }) => name === known.default);
  if (first > 0) known.indexes.unshift(...known.indexes.splice(first, 1));
  if (known.indexes.length === 0) complain(new Error("No index can answer: all are damaged."));
  fillIndexes();
  show();
}

for (const id of INPUTS) {
  byId(id).addEventListener("input", () => {
    change({ [id]: byId(id).value });
    clearTimeout(waiting);
    waiting = setTimeout(show, byId(id).tagName === "SELECT" ? 0 : PAUSE);
  });
}
for (const id of ["question", "compare-form"]) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    show();
  });
}
byId("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address tells the state, and nothing else
  byId("main").focus();
});
addEventListener("hashchange", () => {
  state = readAddress(location.hash);
  if (known.indexes.length > 0) page.allIsWell();
  show();
});

linkViews();
start();
if (state.view !== "list" && matchMedia("(hover: hover)").matches) byId("mention").focus();
