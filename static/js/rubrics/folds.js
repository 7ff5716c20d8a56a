// Rows are lines of which one is open at a time. What leads into a row opens it; a fold is nothing to save.

import { one } from "../shared/one.js";
import { rowsOf } from "../shared/sortable_rows.js";
import { fetchFields } from "./criteria/fields.js";
import { isLean } from "./criteria/line.js";
import { theList } from "./criteria/making.js";

/** @param {HTMLElement} row */
const foldOf = (row) => /** @type {HTMLDetailsElement} */ (one("[data-fold]", row));
const rows = () => rowsOf(theList()).filter((row) => row.matches("[data-criterion-row]"));

const sayAll = () => {
  const button = one("#rubric-form [data-folds-all]");
  button.hidden = rows().length < 2;
  button.textContent = rows().every((row) => foldOf(row).open) ? "Fold all" : "Open all";
};

/**
 * Opens a row and closes the others, but those in which something is to be mended; the row stays where it is seen.
 * @param {HTMLElement} row
 */
export const openOnly = async (row) => {
  const before = row.getBoundingClientRect().top;
  for (const each of rows())
    if (each !== row && !each.querySelector("[aria-invalid]")) foldOf(each).open = false;
  const moved = row.getBoundingClientRect().top - before;
  if (row.isConnected && moved) window.scrollBy(0, moved);
  await fetchFields([row]);
  foldOf(row).open = true;
};

document.addEventListener("rows:changed", sayAll);

// In the capture phase: it does not bubble.
document.addEventListener("toggle", (event) => event.target.matches("[data-fold]") && sayAll(), true);

document.addEventListener("click", async (event) => {
  const row = event.target.closest("[data-fold] > summary")?.closest("[data-criterion-row]");
  if (row && !foldOf(row).open) {
    event.preventDefault();
    openOnly(row);
  }
  if (!event.target.closest("[data-folds-all]")) return;
  const isClosed = rows().some((each) => !foldOf(each).open);
  if (isClosed) await fetchFields(rows());
  for (const each of rows()) foldOf(each).open = isClosed;
});

// Links to a row or into it, whose fields may not be there yet: of the faults, of lint, of the address.
/** @param {string} hash */
const reveal = async (hash) => {
  const id = hash.slice(1);
  const index = /^(?:id_)?(?:criteria|criterion)-(\d+)/.exec(id)?.[1];
  const row =
    document.getElementById(id)?.closest("[data-criterion-row]") ??
    document.getElementById(`criterion-${index}`);
  if (!row) return;
  const wasLean = isLean(row);
  await openOnly(row);
  const goal = document.getElementById(id);
  goal?.scrollIntoView({ block: "nearest" });
  if (wasLean && goal && goal !== row) goal.focus();
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.getAttribute("href") ?? "");
});
window.addEventListener("hashchange", () => reveal(location.hash));
document.addEventListener("DOMContentLoaded", () => {
  sayAll();
  reveal(location.hash);
});

// The form comes back from the server: what was open is open again.
/** @type {Set<string>} */
let opened = new Set();
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== "editor") return;
  opened = new Set(
    rows()
      .filter((row) => foldOf(row).open)
      .map((row) => row.id),
  );
});
document.addEventListener("htmx:afterSettle", async (event) => {
  if (event.target.id !== "editor") return;
  const again = rows().filter((row) => opened.has(row.id));
  await fetchFields(again);
  for (const row of again) foldOf(row).open = true;
  sayAll();
});
