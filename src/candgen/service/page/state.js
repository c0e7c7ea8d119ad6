// What the page shows is told by its address, so that it can be bookmarked and sent to others.
// It stands behind the #, which browsers keep to themselves: names do not end in logs.

const FIELDS = ["view", "mention", "index", "k", "lam", "entity", "with", "withlam"];
const NUMBERS = ["k", "lam", "withlam"];
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const VIEWS = ["one", "list", "compare", "programs"];

/** The state that an address tells; what it does not tell is "". */
export function readAddress(hash) {
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const state = Object.fromEntries(FIELDS.map((field) => [field, told.get(field) ?? ""]));
  if (!VIEWS.includes(state.view)) state.view = "one";
  for (const field of NUMBERS) if (!NUMBER.test(state[field])) state[field] = "";
  return state;
}

/** The address that tells a state, without what goes without saying. */
export function addressOf(state) {
  const told = FIELDS.filter((field) => state[field] && !(field === "view" && state.view === "one"));
  return `#${new URLSearchParams(told.map((field) => [field, state[field]]))}`;
}
