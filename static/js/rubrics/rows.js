// The editor's rows: add one from the template, remove one with a way back, without asking the server.

import { rowsOf } from "../shared/sortable_rows.js";
import { replaceWithUndo } from "./removed_row.js";

const form = () => document.getElementById("rubric-form");

const changed = (list) => {
  const count = rowsOf(list).length;
  form().querySelector("[data-rows-count]").textContent = count;
  form().querySelector("[data-rows-none]").hidden = count > 0;
  list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
};

// One more than any row has ever had, so that a row taken back keeps its own.
let next = 0;
const nextIndex = (list) => {
  const used = rowsOf(list).map((row) => Number(row.dataset.id) + 1);
  next = Math.max(next, ...used);
  return next++;
};

const add = () => {
  const list = form().querySelector("[data-sortable-rows]");
  const row = document.getElementById("criterion-template").content.firstElementChild.cloneNode(true);
  const holder = document.createElement("ol");
  holder.append(row);
  holder.innerHTML = holder.innerHTML.replaceAll("__index__", nextIndex(list));
  const added = holder.firstElementChild;
  list.append(added);
  htmx.process(added);
  changed(list);
  added.querySelector("textarea").focus();
  added.scrollIntoView({ block: "nearest" });
};

const remove = (row) => {
  next = Math.max(next, Number(row.dataset.id) + 1);
  const name =
    row.querySelector("input[name$='-name']").value || row.querySelector("textarea").value.slice(0, 60);
  replaceWithUndo(
    row,
    name ? `Removed “${name}”.` : "Removed an empty criterion.",
    row.querySelector("textarea"),
    changed,
  );
};

// Here these buttons never submit; with a name left on them htmx would send the one pressed last.
const ARMED =
  "[data-row-add], [data-row-remove], [data-option-add], [data-option-remove], [data-option-preset]";
const disarm = () => {
  const templates = ["criterion-template", "option-template"].map(
    (id) => document.getElementById(id)?.content,
  );
  for (const place of [document, ...templates.filter(Boolean)]) {
    for (const button of place.querySelectorAll(ARMED)) {
      button.type = "button";
      button.removeAttribute("name");
    }
  }
};

document.addEventListener("DOMContentLoaded", disarm);
document.addEventListener("htmx:afterSettle", (event) => event.target.id === "editor" && disarm());

document.addEventListener("click", (event) => {
  if (!form()?.contains(event.target)) return;
  if (event.target.closest("[data-row-add]")) add();
  const button = event.target.closest("[data-row-remove]");
  if (button) remove(button.closest("[data-sortable-row]"));
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.altKey || !form()?.contains(event.target)) return;
  event.preventDefault();
  add();
});
