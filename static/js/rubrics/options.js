// The options of a choice: add, remove with a way back, begin with a preset; Enter goes on to the next.

import { one } from "../shared/one.js";
import { rowsOf } from "../shared/sortable_rows.js";
import { replaceWithUndo } from "./removed_row.js";

/** @typedef {{ label?: string, value?: string, na?: boolean }} Option */

/** @param {HTMLElement} element */
const listOf = (element) => element.closest("[data-criterion-row]")?.querySelector("[data-option-list]");
/** @param {HTMLElement} row */
const labelOf = (row) => one("input[data-option-label]", row);

/** @param {HTMLElement} list */
const changed = (list) => {
  list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
};

// One more than any option of this list has ever had, so that one taken back keeps its own.
/** @param {HTMLElement} list */
const nextIndex = (list) => {
  const used = rowsOf(list).map((row) => Number(row.dataset.id) + 1);
  const next = Math.max(Number(list.dataset.nextIndex ?? 0), ...used);
  list.dataset.nextIndex = String(next + 1);
  return next;
};

/** @type {(list: HTMLElement, option?: Option) => HTMLElement} */
const make = (list, { label = "", value = "", na = false } = {}) => {
  const holder = document.createElement("ol");
  holder.append(one("[data-sortable-row]", one("template#option-template").content).cloneNode(true));
  holder.innerHTML = holder.innerHTML
    .replaceAll("__index__", list.dataset.optionList ?? "")
    .replaceAll("__option__", String(nextIndex(list)));
  const row = one("[data-sortable-row]", holder);
  labelOf(row).value = label;
  one("input[name$='-value']", row).value = value;
  one("input[name$='-na']", row).checked = na;
  return row;
};

/** @type {(list: HTMLElement, option?: Option, after?: HTMLElement) => void} */
const add = (list, option, after) => {
  const row = make(list, option);
  if (after) after.after(row);
  else list.append(row);
  changed(list);
  labelOf(row).focus();
  if (option) labelOf(row).select();
};

/** @param {HTMLElement} row */
const remove = (row) => {
  const list = listOf(row);
  if (!list) return;
  const rows = rowsOf(list);
  const beside = rows[rows.indexOf(row) - 1] ?? rows[rows.indexOf(row) + 1];
  const name = labelOf(row).value.trim();
  list.dataset.nextIndex = String(Math.max(Number(list.dataset.nextIndex ?? 0), Number(row.dataset.id) + 1));
  if (!name) {
    row.remove();
    changed(list);
    if (beside) labelOf(beside).focus();
    else list.parentElement?.querySelector("button[data-option-add]")?.focus();
    return;
  }
  replaceWithUndo(row, `Removed “${name}”.`, labelOf(row), changed);
};

/**
 * Puts these in place of what a list has.
 * @type {(list: HTMLElement, options: Option[]) => HTMLElement[]}
 */
export const fill = (list, options) => {
  const rows = options.map((option) => make(list, option));
  list.replaceChildren(...rows);
  changed(list);
  return rows;
};

/** @type {(list: HTMLElement, preset: string) => void} */
const begin = (list, preset) => {
  /** @type {Record<string, [string, string][]>} */
  const presets = JSON.parse(one("#option-presets").textContent ?? "");
  const rows = fill(
    list,
    presets[preset].map(([label, value]) => ({ label, value })),
  );
  labelOf(rows[0]).focus();
};

document.addEventListener("rows:changed", (event) => {
  if (!event.target.matches("[data-option-list]")) return;
  const presets = event.target.closest("[data-criterion-row]")?.querySelector("[data-option-presets]");
  if (presets) presets.hidden = rowsOf(event.target).length > 0;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-option-add], [data-option-remove], [data-option-preset]");
  if (!button) return;
  const list = listOf(button);
  if (!list) return;
  const row = button.closest("[data-sortable-row]");
  if (button.matches("[data-option-remove]") && row) remove(row);
  else if (button.dataset.optionPreset) begin(list, button.dataset.optionPreset);
  else add(list, button.dataset.optionAdd === "na" ? { label: "not applicable", na: true } : undefined);
});

document.addEventListener("keydown", (event) => {
  const row = event.target.closest("[data-option-list] > [data-sortable-row]");
  const isText = event.target.matches("input[type=text]");
  if (!row || !isText || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault();
    const list = one("[data-option-list]", row.closest("[data-criterion-row]") ?? document);
    const next = row.nextElementSibling;
    if (next instanceof HTMLElement && next.matches("[data-sortable-row]")) labelOf(next).focus();
    else if (labelOf(row).value.trim()) add(list, undefined, row);
  }
  if (
    event.key === "Backspace" &&
    event.target.matches("[data-option-label]") &&
    row.matches(":not(:only-child)")
  ) {
    const isEmpty = [...row.querySelectorAll("input[type=text]")].every((input) => input.value === "");
    if (!isEmpty) return;
    event.preventDefault();
    remove(row);
  }
});
