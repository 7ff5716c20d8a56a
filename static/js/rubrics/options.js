// The options of a choice: add, remove with a way back, begin with a preset; Enter goes on to the next.

import { rowsOf } from "../shared/sortable_rows.js";
import { replaceWithUndo } from "./removed_row.js";

const listOf = (element) => element.closest("[data-criterion-row]")?.querySelector("[data-option-list]");
const labelOf = (row) => row.querySelector("[data-option-label]");

const changed = (list) => {
  const presets = list.closest("[data-criterion-row]").querySelector("[data-option-presets]");
  presets.hidden = rowsOf(list).length > 0;
  list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
};

// One more than any option of this list has ever had, so that one taken back keeps its own.
const nextIndex = (list) => {
  const used = rowsOf(list).map((row) => Number(row.dataset.id) + 1);
  const next = Math.max(Number(list.dataset.nextIndex ?? 0), ...used);
  list.dataset.nextIndex = next + 1;
  return next;
};

const make = (list, { label = "", value = "", na = false } = {}) => {
  const holder = document.createElement("ol");
  holder.append(document.getElementById("option-template").content.firstElementChild.cloneNode(true));
  holder.innerHTML = holder.innerHTML
    .replaceAll("__index__", list.dataset.optionList)
    .replaceAll("__option__", nextIndex(list));
  const row = holder.firstElementChild;
  labelOf(row).value = label;
  row.querySelector("[name$='-value']").value = value;
  row.querySelector("[name$='-na']").checked = na;
  return row;
};

const add = (list, option, after) => {
  const row = make(list, option);
  if (after) after.after(row);
  else list.append(row);
  changed(list);
  labelOf(row).focus();
  if (option) labelOf(row).select();
};

const remove = (row) => {
  const list = row.parentElement;
  const beside = rowsOf(list)[rowsOf(list).indexOf(row) - 1] ?? row.nextElementSibling;
  const name = labelOf(row).value.trim();
  list.dataset.nextIndex = Math.max(Number(list.dataset.nextIndex ?? 0), Number(row.dataset.id) + 1);
  if (!name) {
    row.remove();
    changed(list);
    const next = beside && labelOf(beside);
    (next ?? list.parentElement.querySelector("[data-option-add]")).focus();
    return;
  }
  replaceWithUndo(row, `Removed “${name}”.`, labelOf(row), changed);
};

const begin = (list, preset) => {
  const presets = JSON.parse(document.getElementById("option-presets").textContent);
  const rows = presets[preset].map(([label, value]) => make(list, { label, value }));
  list.replaceChildren(...rows);
  changed(list);
  labelOf(rows[0]).focus();
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-option-add], [data-option-remove], [data-option-preset]");
  if (!button) return;
  const list = listOf(button);
  if (button.matches("[data-option-remove]")) remove(button.closest("[data-sortable-row]"));
  else if (button.matches("[data-option-preset]")) begin(list, button.dataset.optionPreset);
  else add(list, button.dataset.optionAdd === "na" ? { label: "not applicable", na: true } : undefined);
});

document.addEventListener("keydown", (event) => {
  const row = event.target.closest("[data-option-list] > [data-sortable-row]");
  const isText = event.target.matches("input[type=text]");
  if (!row || !isText || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (event.key === "Enter") {
    event.preventDefault();
    const next = row.nextElementSibling;
    if (next?.matches("[data-sortable-row]")) labelOf(next).focus();
    else if (labelOf(row).value.trim()) add(row.parentElement, undefined, row);
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
