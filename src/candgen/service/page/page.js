// The page: one state, which is in its address, and four views of it.

import { compareView } from "./compare.js";
import { byId, counted, element, languageName, shortNumber, wholeNumber } from "./elements.js";
import { listView } from "./list.js";
import { oneView } from "./one.js";
import { programsView } from "./programs.js";
import { Service } from "./service.js";
import { addressOf, readAddress } from "./state.js";

const PAUSE = 120; // milliseconds between the last key press and the request
const INPUTS = ["mention", "index", "k", "lam", "with", "withlam"];

let state = readAddress(location.hash);
let known = { default: "", indexes: [], broken: [], limits: {} };
let waiting = 0;

const page = {
  service: new Service(askForKey),
  state: completeState,
  remember: change,
  facts: (name) => known.indexes.find((each) => each.name === name),
  limits: () => known.limits,
  showError,
  clearError: () => { byId("problem").hidden = true; },
};
const views = {
  one: oneView(page), list: listView(page), compare: compareView(page), programs: programsView(page),
};

/** The state with defaults, and without a lam that the indexes do not take. */
function completeState() {
  const index = page.facts(state.index) ? state.index : (known.indexes[0]?.name ?? "");
  const other = known.indexes.find((each) => each.name !== index)?.name ?? index;
  const second = page.facts(state.with) ? state.with : other;
  const lam = page.facts(index)?.lam === null ? "" : state.lam;
  const withlam = page.facts(second)?.lam === null ? "" : state.withlam;
  return { ...state, mention: wellFormed(state.mention), index, lam, with: second, withlam };
}

// A lone surrogate, which a keyboard should not produce, is not valid text.
const wellFormed = (text) => text.toWellFormed?.() ?? text;

/** Change the state and the address. */
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

/** Show the state in the fields and in its view. */
function show() {
  clearTimeout(waiting);
  const now = completeState();
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

/** Show what the indexes are, and whether they take lam. */
function showFacts(now) {
  const facts = page.facts(now.index);
  showLam(byId("lam"), facts);
  showLam(byId("withlam"), page.facts(now.with));
  byId("mention").lang = facts?.language ?? "";
  byId("names").lang = facts?.language ?? "";
  const wanted = state.index !== "" && facts !== undefined && state.index !== now.index
    ? `Unknown index ${state.index}: showing ${now.index}. ` : "";
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
    ? ` probabilities calibrated on ${counted(facts.calibrated_on, "dev query", "dev queries")}`
    : " probabilities not calibrated (no dev queries)";
  const fixed = facts.lam === null ? "; lam is fixed" : "";
  const of = facts.language ? `For ${languageName(facts.language)}:` : "This index:";
  return `${of}${learned}${entities}${probabilities}${fixed}.`;
}

/** Show an error, with a button to try again if that may help. */
function showError(error, retry = show) {
  const isGone = error.status === 404; // the indexes may have changed
  const again = element("button", {
    type: "button",
    click: () => {
      byId("main").focus();
      if (isGone || known.indexes.length === 0) start();
      else retry();
    },
  }, "Try again");
  const helps = isGone || !(error.status >= 402 && error.status < 500); // the same request would fail again
  byId("problem").replaceChildren(element("p", {}, error.message), ...(helps ? [again] : []));
  byId("problem").hidden = false;
}

function askForKey(problem) {
  const dialog = byId("key-dialog");
  const showProblem = (text) => {
    byId("key-problem").textContent = text;
    byId("key-problem").hidden = text === "";
  };
  showProblem(problem);
  byId("key").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  byId("key-form").onsubmit = (event) => {
    event.preventDefault();
    if (/^[\x21-\x7e]+$/.test(byId("key").value)) dialog.close("given");
    else showProblem("A key has ASCII characters only, and no spaces.");
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
    showError(error);
    show();
    return;
  }
  page.clearError();
  const first = known.indexes.findIndex(({ name }) => name === known.default);
  if (first > 0) known.indexes.unshift(...known.indexes.splice(first, 1));
  if (known.indexes.length === 0) showError(new Error("All indexes are damaged."));
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
  event.preventDefault(); // the address contains the state only
  byId("main").focus();
});
addEventListener("hashchange", () => {
  state = readAddress(location.hash);
  if (known.indexes.length > 0) page.clearError();
  show();
});

linkViews();
start();
if (state.view !== "list" && matchMedia("(hover: hover)").matches) byId("mention").focus();
