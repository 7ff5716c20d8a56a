// New criteria: from the template, and like another one.

import { one } from "../../shared/one.js";
import { rowsOf } from "../../shared/sortable_rows.js";

export const theList = () => one("#rubric-form [data-folds]");

// One more than any row has ever had, so that a row taken back keeps its own.
let next = 0;
const nextIndex = () => {
  next = Math.max(next, ...rowsOf(theList()).map((row) => Number(row.dataset.id) + 1));
  return next++;
};

/**
 * A row goes; its index stays its own.
 * @param {HTMLElement} row
 */
export const keepIndex = (row) => {
  next = Math.max(next, Number(row.dataset.id) + 1);
};

// As the server gives them: so the criterion stays the same one however it is reworded.
const newId = () => {
  const bytes = [...crypto.getRandomValues(new Uint8Array(8))];
  return `uid-${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
};

// Here these buttons never submit; with a name left on them htmx would send the one pressed last.
const ARMED =
  "[data-row-add], [data-row-remove], [data-row-duplicate], [data-option-add], [data-option-remove], [data-option-preset]";
/** @param {ParentNode} place */
export const disarm = (place) => {
  for (const button of place.querySelectorAll(ARMED)) {
    button.setAttribute("type", "button");
    button.removeAttribute("name");
  }
};

/** An empty criterion, not on the page yet. */
export const newRow = () => {
  const row = one("[data-sortable-row]", one("template#criterion-template").content).cloneNode(true);
  const holder = document.createElement("ol");
  holder.append(row);
  holder.innerHTML = holder.innerHTML
    .replaceAll("__index__", String(nextIndex()))
    .replaceAll("__id__", newId());
  return one("[data-sortable-row]", holder);
};

/**
 * A criterion that says the same, with an id of its own.
 * @param {HTMLElement} row
 */
export const copyOf = (row) => {
  const [before, after] = [row.dataset.id ?? "", String(nextIndex())];
  const copy = /** @type {HTMLElement} */ (row.cloneNode(true));
  const own = new RegExp(
    `(criteria|criterion)-${before}(?=$|-)|^${before}(?=$|-)|(?<="row": ")${before}(?=")`,
    "g",
  );
  for (const element of [copy, ...copy.querySelectorAll("*")])
    for (const attribute of element.attributes)
      if (
        /^(id|name|for|value|aria-describedby|hx-target|hx-vals|data-id|data-option-list)$/.test(
          attribute.name,
        ) &&
        isIndexed(element, attribute.name)
      )
        attribute.value = attribute.value.replace(own, (_whole, word) => (word ? `${word}-${after}` : after));
  // What a copy of an element does not take along.
  const [from, to] = [row, copy].map((each) => [...each.querySelectorAll("select")]);
  from.forEach((select, index) => {
    to[index].selectedIndex = select.selectedIndex;
  });
  for (const list of copy.querySelectorAll("[data-sortable-ready]"))
    list.removeAttribute("data-sortable-ready");
  const id = copy.querySelector("input[name$='-id']");
  if (id) id.value = newId();
  const kept = copy.querySelector("input[name$='-kept']");
  if (kept) kept.value = JSON.stringify({ ...JSON.parse(kept.value), id: newId() });
  one("input[data-row-select]", copy).checked = false;
  return copy;
};

// The options inside a row are counted by themselves; a value is an index in buttons alone.
/** @type {(element: Element, name: string) => boolean} */
const isIndexed = (element, name) => {
  if (name === "value") return element.matches("button");
  return name !== "data-id" || element.matches("[data-criterion-row]");
};

/**
 * Puts rows behind another, or in its place, or at the end.
 * @type {(rows: HTMLElement[], after?: HTMLElement | null, how?: { isReplaced?: boolean }) => void}
 */
export const insert = (rows, after, { isReplaced = false } = {}) => {
  if (after) after.after(...rows);
  else theList().append(...rows);
  if (after && isReplaced) {
    keepIndex(after);
    after.remove();
  }
  for (const row of rows) {
    disarm(row);
    htmx.process(row);
  }
  changed();
};

/** Rows were added or removed. */
export const changed = () => theList().dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
