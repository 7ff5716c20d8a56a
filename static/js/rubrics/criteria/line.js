// One criterion of the editor: what it says, in its fields or kept as one text while it is folded, and its line.

import { one } from "../../shared/one.js";

const BEGINNING = 80; // characters of a requirement, as the server has it (web/rubrics/criterion_rows.py)
const KINDS = { binary: "", choice: "Options", check: "Check" };

/** @param {HTMLElement} row */
const keptOf = (row) => row.querySelector("input[name$='-kept']");

/**
 * Whether its fields are not on the page yet.
 * @param {HTMLElement} row
 */
export const isLean = (row) => keptOf(row) !== null;

/** @type {(row: HTMLElement, name: string) => Field} */
const fieldOf = (row, name) =>
  /** @type {Field} */ (/** @type {unknown} */ (one(`[name="criteria-${row.dataset.id}-${name}"]`, row)));

/** @type {(row: HTMLElement, name: string) => string} */
export const fieldText = (row, name) => {
  const kept = keptOf(row);
  return kept ? String(JSON.parse(kept.value)[name] ?? "") : fieldOf(row, name).value;
};

/** @type {(row: HTMLElement, name: string, value: string) => void} */
export const setField = (row, name, value) => {
  const kept = keptOf(row);
  if (kept) kept.value = JSON.stringify({ ...JSON.parse(kept.value), [name]: value });
  else fieldOf(row, name).value = value;
  describe(row);
};

/** @param {HTMLElement} row */
export const kindOf = (row) => one("input[data-kind-choice]:checked", row).value;

/**
 * The line says what its row does, as the server writes it (templates/rubrics/editor/row/_criterion_row.html).
 * @param {HTMLElement} row
 */
export const describe = (row) => {
  one("[data-fold-weight]", row).textContent = fieldText(row, "weight");
  if (isLean(row)) return; // nothing else of it changes
  const [name, kind] = [fieldText(row, "name").trim(), kindOf(row)];
  let words = fieldText(row, "requirement").trim().replace(/\s+/g, " ");
  if (words.length > BEGINNING) words = `${words.slice(0, BEGINNING)}…`;
  const check = one("select[name$='-check']", row);
  if (!words && kind === "check" && check.value) words = check.selectedOptions[0].text;
  one("[data-fold-name]", row).textContent = name;
  one("[data-fold-words]", row).textContent = words || (name ? "" : "(empty)");
  one("[data-fold-kind]", row).textContent = KINDS[/** @type {keyof typeof KINDS} */ (kind)] ?? "";
};

document.addEventListener("input", (event) => {
  const row = event.target.closest("#rubric-form [data-criterion-row]");
  if (row) describe(row);
});
