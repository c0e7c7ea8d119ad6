// Code to copy, for the current query.

import { byId } from "./elements.js";

export function programsView(page) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button.dataset.copy));
  }

  function show(state) {
    const base = new URL(".", location.href.replace(/[?#].*$/s, "")).href;
    const needsKey = page.service.hasKey;
    byId("curl").textContent = curlLine(base, state, needsKey);
    byId("python").textContent = pythonLines(base, state, needsKey);
    byId("openrefine").textContent = `${base}reconcile/${state.index}`;
    byId("openrefine-key").hidden = !needsKey;
    byId("copied").textContent = "";
  }

  return { show, leave: () => {} };
}

/** A shell command, in which every value is quoted. */
export function curlLine(base, { mention, index, k, lam }, needsKey) {
  const parameters = { mention, index, k, lam, details: "true" };
  const options = Object.entries(parameters)
    .filter(([name, value]) => value !== "" || name === "mention")
    .map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  const key = needsKey ? ['-H "Authorization: Bearer $CANDGEN_API_KEY"'] : [];
  return [`curl -sG ${quoted(`${base}api/v1/candidates`)}`, ...key, ...options].join(" \\\n  ");
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function pythonLines(base, { mention, index, k, lam }, needsKey) {
  const fields = [
    `"mentions": [${JSON.stringify(mention)}]`, `"index": ${JSON.stringify(index)}`,
    ...(k === "" ? [] : [`"k": ${Number(k)}`]), ...(lam === "" ? [] : [`"lam": ${Number(lam)}`]),
    '"details": True',
  ];
  const key = needsKey ? [`    "Authorization": "Bearer " + os.environ["CANDGEN_API_KEY"],`] : [];
  return [
    "import json", ...(needsKey ? ["import os"] : []), "import urllib.request", "",
    `question = {${fields.join(", ")}}`,
    "headers = {", '    "Content-Type": "application/json",', ...key, "}",
    "request = urllib.request.Request(",
    `    ${JSON.stringify(`${base}api/v1/candidates`)}, json.dumps(question).encode(), headers`,
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    answer = json.load(response)",
    'for result in answer["results"]:',
    '    for each in result["candidates"]:',
    '        print(result["mention"], each["entity"], each["name"], each["probability"], sep="\\t")',
    "",
  ].join("\n");
}

async function copy(id) {
  const code = byId(id);
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Without https there is no clipboard API, but a selection can be copied.
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  byId("copied").textContent = "Code copied.";
}
