// Downloads: the candidates of a list as CSV and JSON.

const COLUMNS = [
  "line", "mention", "rank", "entity", "name", "language", "description", "types", "probability",
  "score", "prior", "posterior",
];

// Excel needs this mark to read a file as UTF-8.
const BOM = "\uFEFF";

// Spreadsheets run text that begins like this as a formula, which is a security risk.
const FORMULA = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/u;

/** CSV (RFC 4180) for spreadsheets: a row per candidate, or one for a name without candidates. */
export function csvOf(results) {
  const rows = results.flatMap(({ line, mention, candidates }) => {
    if (candidates.length === 0) return [{ line, mention }];
    return candidates.map((each, place) => (
      { ...each, line, mention, rank: place + 1, types: each.types.map((type) => type.id).join("|") }
    ));
  });
  const lines = rows.map((row) => COLUMNS.map((column) => cell(row[column])).join(","));
  return `${BOM}${[COLUMNS.join(","), ...lines].join("\r\n")}\r\n`;
}

function cell(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The parameters and the results. */
export function jsonOf(parameters, results) {
  return `${JSON.stringify({ ...parameters, results }, null, 2)}\n`;
}

/** Download a text as a file. */
export function download(name, mediaType, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${mediaType};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
