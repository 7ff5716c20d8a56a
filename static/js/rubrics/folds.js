// The rows of a long rubric fold to a line each. What leads into a row opens it; a fold is nothing to save.

import { one } from "../shared/one.js";
import { rowsOf } from "../shared/sortable_rows.js";

const FEW = 6; // so many are all shown open, as the server has it (web/rubrics/forms.py)

const list = () => one("#rubric-form [data-folds]");
const folds = () => rowsOf(list()).map((row) => /** @type {HTMLDetailsElement} */ (one("[data-fold]", row)));
const isLong = () => list().dataset.folds === "long";

const sayAll = () => {
  const button = one("#rubric-form [data-folds-all]");
  button.hidden = !isLong();
  button.textContent = folds().every((fold) => fold.open) ? "Fold all" : "Open all";
};

// A rubric that becomes long keeps its rows open; one that becomes short again keeps its lines.
const refresh = () => {
  if (folds().length > FEW) list().dataset.folds = "long";
  sayAll();
};

// The line says what its row does, as the server writes it (templates/rubrics/editor/_criterion_row.html).
/** @param {HTMLElement} row */
const describe = (row) => {
  const check = one("select[name$='-check']", row);
  const isCheck = one("input[data-kind-choice]:checked", row).value === "check";
  const words = [
    one("input[name$='-name']", row).value,
    one("textarea", row).value.trim().slice(0, 120),
    isCheck && check.value ? check.selectedOptions[0].text : "",
  ];
  one("[data-fold-name]", row).textContent = words.find((each) => each.trim()) ?? "(empty)";
  one("[data-fold-weight]", row).textContent = one("input[data-weight]", row).value;
};

document.addEventListener("input", (event) => {
  const row = event.target.closest("#rubric-form [data-criterion-row]");
  if (row) describe(row);
});
document.addEventListener("rows:changed", refresh);

// In the capture phase: it does not bubble.
document.addEventListener("toggle", (event) => event.target.matches("[data-fold]") && sayAll(), true);

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-folds-all]")) return;
  const isClosed = folds().some((fold) => !fold.open);
  for (const fold of folds()) fold.open = isClosed;
});

// Links to a row or into it: of the faults, of lint, of the address.
/** @param {string} hash */
const reveal = (hash) => {
  const fold = document
    .getElementById(hash.slice(1))
    ?.closest("[data-criterion-row]")
    ?.querySelector("[data-fold]");
  if (fold) fold.setAttribute("open", "");
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.getAttribute("href") ?? "");
});
window.addEventListener("hashchange", () => reveal(location.hash));
document.addEventListener("DOMContentLoaded", () => {
  refresh();
  reveal(location.hash);
});

// The form comes back from the server: what was open is open again.
/** @type {Set<string | undefined>} */
let opened = new Set();
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== "editor") return;
  opened = new Set(folds().map((fold) => (fold.open ? fold.closest("li")?.id : undefined)));
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "editor") return;
  for (const fold of folds()) if (opened.has(fold.closest("li")?.id)) fold.open = true;
  refresh();
});
