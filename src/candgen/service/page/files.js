// Candidates of a list as files.

const COLUMNS = [
  "line", "mention", "rank", "entity", "name", "language", "description", "types", "probability",
  "score", "prior", "posterior",
];

// Excel takes a file for UTF-8 only if it begins with this mark.
const BOM = "\uFEFF";

// A spreadsheet runs what begins like this, also in a file that somebody else has filled.
const FORMULA = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/u;

/** One row a candidate; a name without any has a row of its own. RFC 4180, for spreadsheets. */
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

/** What was asked, and all that the service said. */
export function jsonOf(question, results) {
  return `${JSON.stringify({ ...question, results }, null, 2)}\n`;
}

/** Let the visitor keep a text as a file. */
export function download(name, mediaType, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${mediaType};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
