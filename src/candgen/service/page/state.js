// The state of the page is in its address, so that it can be bookmarked and shared. It is after
// the #, which browsers do not send: names do not appear in logs.

const FIELDS = ["view", "mention", "index", "k", "lam", "entity", "with", "withlam"];
const NUMBERS = ["k", "lam", "withlam"];
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const VIEWS = ["one", "list", "compare", "programs"];

/** The state in an address; missing fields are "". */
export function readAddress(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const state = Object.fromEntries(FIELDS.map((field) => [field, given.get(field) ?? ""]));
  if (!VIEWS.includes(state.view)) state.view = "one";
  for (const field of NUMBERS) if (!NUMBER.test(state[field])) state[field] = "";
  return state;
}

/** The address of a state, without defaults. */
export function addressOf(state) {
  const given = FIELDS.filter((field) => state[field] && !(field === "view" && state.view === "one"));
  return `#${new URLSearchParams(given.map((field) => [field, state[field]]))}`;
}
