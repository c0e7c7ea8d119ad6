// Lines to copy for what the page asks.

import { byId } from "./elements.js";

export function programsView(page) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button.dataset.copy));
  }

  function show(state) {
    const base = new URL(".", location.href.replace(/[?#].*$/s, "")).href;
    const wantsKey = page.service.hasKey;
    byId("curl").textContent = curlLine(base, state, wantsKey);
    byId("python").textContent = pythonLines(base, state, wantsKey);
    byId("openrefine").textContent = `${base}reconcile/${state.index}`;
    byId("openrefine-key").hidden = !wantsKey;
    byId("copied").textContent = "";
  }

  return { show, leave: () => {} };
}

/** A line for a shell, in which nothing of a name means anything to it. */
export function curlLine(base, { mention, index, k, lam }, wantsKey) {
  const told = { mention, index, k, lam, details: "true" };
  const options = Object.entries(told)
    .filter(([name, value]) => value !== "" || name === "mention")
    .map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`);
  const key = wantsKey ? ['-H "Authorization: Bearer $CANDGEN_API_KEY"'] : [];
  return [`curl -sG ${quoted(`${base}api/v1/candidates`)}`, ...key, ...options].join(" \\\n  ");
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

export function pythonLines(base, { mention, index, k, lam }, wantsKey) {
  const asked = [
    `"mentions": [${JSON.stringify(mention)}]`, `"index": ${JSON.stringify(index)}`,
    ...(k === "" ? [] : [`"k": ${Number(k)}`]), ...(lam === "" ? [] : [`"lam": ${Number(lam)}`]),
    '"details": True',
  ];
  const key = wantsKey ? [`    "Authorization": "Bearer " + os.environ["CANDGEN_API_KEY"],`] : [];
  return [
    "import json", ...(wantsKey ? ["import os"] : []), "import urllib.request", "",
    `question = {${asked.join(", ")}}`,
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
    // Without https there is no clipboard, but what is selected can be copied.
    getSelection().selectAllChildren(code);
    document.execCommand("copy");
  }
  byId("copied").textContent = `The line${code.textContent.includes("\n") ? "s are" : " is"} copied.`;
}
