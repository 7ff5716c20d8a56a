// The editor's rows: add one from the template, duplicate one, remove one with a way back, without asking the server.

import { one } from "../shared/one.js";
import { rowsOf } from "../shared/sortable_rows.js";
import { fieldText } from "./criteria/line.js";
import { changed, copyOf, disarm, insert, keepIndex, newRow, theList } from "./criteria/making.js";
import { openOnly } from "./folds.js";
import { replaceWithUndo } from "./removed_row.js";

const form = () => document.getElementById("rubric-form");

const add = () => {
  const row = newRow();
  insert([row]);
  openOnly(row);
  one("textarea", row).focus();
  row.scrollIntoView({ block: "nearest" });
};

/** @param {HTMLElement} row */
const duplicate = async (row) => {
  const copy = copyOf(row);
  insert([copy], row);
  await openOnly(copy);
  one("textarea", copy).focus();
};

/** @param {HTMLElement} row */
const remove = (row) => {
  keepIndex(row);
  const name = fieldText(row, "name") || fieldText(row, "requirement").slice(0, 60);
  const words = name ? `Removed “${name}”.` : "Removed an empty criterion.";
  replaceWithUndo(row, words, one("summary", row), changed);
};

const disarmAll = () => {
  disarm(document);
  for (const id of ["criterion-template", "option-template"]) {
    const template = document.querySelector(`template#${id}`);
    if (template) disarm(template.content);
  }
};

document.addEventListener("DOMContentLoaded", disarmAll);
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "editor" && disarmAll());

document.addEventListener("rows:changed", (event) => {
  if (event.target !== theList()) return;
  const count = rowsOf(theList()).length;
  one("#rubric-form [data-rows-count]").textContent = String(count);
  one("#rubric-form [data-rows-none]").hidden = count > 0;
});

document.addEventListener("click", (event) => {
  if (!form()?.contains(event.target)) return;
  if (event.target.closest("[data-row-add]")) add();
  const row = event.target.closest("[data-criterion-row]");
  if (row && event.target.closest("[data-row-remove]")) remove(row);
  if (row && event.target.closest("[data-row-duplicate]")) duplicate(row);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.altKey || !form()?.contains(event.target)) return;
  event.preventDefault();
  const row = event.target.closest("[data-criterion-row]");
  if (!event.shiftKey) add();
  else if (row) duplicate(row);
});
