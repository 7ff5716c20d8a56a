// The editor's rows: add one from the template, remove one with a way back, without asking the server.

import { one } from "../shared/one.js";
import { rowsOf } from "../shared/sortable_rows.js";
import { replaceWithUndo } from "./removed_row.js";

const form = () => document.getElementById("rubric-form");

/** @param {HTMLElement} list */
const changed = (list) => {
  const count = rowsOf(list).length;
  one("#rubric-form [data-rows-count]").textContent = String(count);
  one("#rubric-form [data-rows-none]").hidden = count > 0;
  list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
};

// One more than any row has ever had, so that a row taken back keeps its own.
let next = 0;
/** @param {HTMLElement} list */
const nextIndex = (list) => {
  const used = rowsOf(list).map((row) => Number(row.dataset.id) + 1);
  next = Math.max(next, ...used);
  return next++;
};

// As the server gives them: so the criterion stays the same one however it is reworded.
const newId = () => {
  const bytes = [...crypto.getRandomValues(new Uint8Array(8))];
  return `uid-${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

const add = () => {
  const list = one("#rubric-form [data-sortable-rows]");
  const row = one("[data-sortable-row]", one("template#criterion-template").content).cloneNode(true);
  const holder = document.createElement("ol");
  holder.append(row);
  holder.innerHTML = holder.innerHTML
    .replaceAll("__index__", String(nextIndex(list)))
    .replaceAll("__id__", newId());
  const added = one("[data-sortable-row]", holder);
  list.append(added);
  htmx.process(added);
  changed(list);
  one("textarea", added).focus();
  added.scrollIntoView({ block: "nearest" });
};

/** @param {HTMLElement} row */
const remove = (row) => {
  next = Math.max(next, Number(row.dataset.id) + 1);
  const name = one("input[name$='-name']", row).value || one("textarea", row).value.slice(0, 60);
  replaceWithUndo(
    row,
    name ? `Removed “${name}”.` : "Removed an empty criterion.",
    one("textarea", row),
    changed,
  );
};

// Here these buttons never submit; with a name left on them htmx would send the one pressed last.
const ARMED =
  "[data-row-add], [data-row-remove], [data-option-add], [data-option-remove], [data-option-preset]";
const disarm = () => {
  const templates = ["criterion-template", "option-template"].map(
    (id) => document.querySelector(`template#${id}`)?.content,
  );
  for (const place of [document, ...templates]) {
    for (const button of place?.querySelectorAll(ARMED) ?? []) {
      button.setAttribute("type", "button");
      button.removeAttribute("name");
    }
  }
};

document.addEventListener("DOMContentLoaded", disarm);
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "editor" && disarm());

document.addEventListener("click", (event) => {
  if (!form()?.contains(event.target)) return;
  if (event.target.closest("[data-row-add]")) add();
  const row = event.target.closest("[data-row-remove]")?.closest("[data-sortable-row]");
  if (row) remove(row);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.altKey || !form()?.contains(event.target)) return;
  event.preventDefault();
  add();
});
