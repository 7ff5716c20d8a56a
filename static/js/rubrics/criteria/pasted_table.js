// Lines that somebody pastes, as criteria: what a spreadsheet or a list of sentences means. No page is needed.

/** @typedef {{ label: string, value: string }} PastedOption */
/**
 * @typedef {object} PastedCriterion
 * @property {string} name
 * @property {string} requirement
 * @property {string} weight "" where the lines say none
 * @property {string} kind "binary", "choice", "check"
 * @property {string} group
 * @property {PastedOption[]} options
 */

/** @type {Record<string, string[]>} */
const COLUMNS = {
  name: ["name", "criterion", "criteria", "title"],
  requirement: ["requirement", "description", "question", "text"],
  weight: ["weight", "points", "max points"],
  kind: ["kind", "type"],
  options: ["options", "ratings", "levels", "choices"],
  group: ["group", "section", "category"],
};
const WITHOUT_HEADER = ["name", "requirement", "weight", "kind", "options"];
const NUMBER = /^[-+−]?\d+([.,]\d+)?$/;
const BULLET = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/;

/**
 * Cells between tabs; one in double quotes may hold line breaks and tabs, as spreadsheets copy it.
 * @param {string} text
 */
const cellsOf = (text) => {
  /** @type {string[][]} */
  const rows = [];
  for (const line of text
    .replace(/\r\n?/g, "\n")
    .matchAll(/((?:"(?:[^"]|"")*"(?=[\t\n]|$)|[^\n])*)(?:\n|$)/g)) {
    if (!line[1].trim()) continue;
    const cells = [...line[1].matchAll(/(?:^|\t)(?:"((?:[^"]|"")*)"(?=\t|$)|([^\t]*))/g)];
    rows.push(cells.map((cell) => (cell[1]?.replaceAll('""', '"') ?? cell[2] ?? "").trim()));
  }
  return rows;
};

/** @param {string[]} row */
const headerOf = (row) => {
  const names = row.map((cell) => {
    const word = cell.toLowerCase().replace(/[\s_-]+/g, " ");
    return Object.keys(COLUMNS).find((name) => COLUMNS[name].includes(word)) ?? "";
  });
  const isHeader = names.every(Boolean) && (names.includes("name") || names.includes("requirement"));
  return isHeader && new Set(names).size === names.length ? names : null;
};

/** @param {string[][]} rows */
const columnsOf = (rows) => {
  const width = Math.max(...rows.map((row) => row.length));
  if (width === 1) return ["requirement"];
  const isNumber = rows.every((row) => !row[1] || NUMBER.test(row[1]));
  return width === 2 && isNumber ? ["requirement", "weight"] : WITHOUT_HEADER;
};

/** @param {string} cell `yes = 1; partly = 0.5; no = 0`; a value left out stays empty */
const optionsOf = (cell) =>
  cell
    .split(/[;|\n]/)
    .map((part) => /^(.*?)(?:\s*[=:]\s*([-+\d.,]+))?$/.exec(part.trim()) ?? [])
    .filter((found) => found[1])
    .map((found) => ({ label: found[1] ?? "", value: (found[2] ?? "").replace(",", ".") }));

/** @type {(word: string, options: PastedOption[]) => string} */
const kindOf = (word, options) => {
  if (/^(choice|options?|scale|rating)/i.test(word) || (!word && options.length > 0)) return "choice";
  return /^check/i.test(word) ? "check" : "binary";
};

/**
 * `Is kind.\nIs short.` gives two criteria. Gives none for a single line without a header: that is text.
 * @param {string} text
 * @returns {PastedCriterion[]}
 */
export const pastedCriteria = (text) => {
  let rows = cellsOf(text);
  const header = rows.length > 1 ? headerOf(rows[0]) : null;
  if (header) rows = rows.slice(1);
  else if (rows.length < 2) return [];
  const columns = header ?? columnsOf(rows);
  return rows.map((row) => {
    const cell = (/** @type {string} */ name) => row[columns.indexOf(name)] ?? "";
    const options = optionsOf(cell("options"));
    const weight = cell("weight");
    // A table of names alone asks what they say.
    const requirement = columns.includes("requirement") ? cell("requirement") : cell("name");
    return {
      name: columns.includes("requirement") ? cell("name") : "",
      requirement: columns.length === 1 ? requirement.replace(BULLET, "") : requirement,
      weight: /^[-+−]?\d+,\d+$/.test(weight) ? weight.replace(",", ".") : weight,
      kind: kindOf(cell("kind"), options),
      group: cell("group"),
      options,
    };
  });
};
