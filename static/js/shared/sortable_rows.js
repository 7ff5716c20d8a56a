// Rows in an order: drag by the handle, press the move buttons, or Alt+↑/↓ inside a row.

import { onContent } from "./events.js";

/**
 * The rows of a list itself, not those of lists inside its rows.
 * @param {HTMLElement} list
 */
export const rowsOf = (list) => [...list.querySelectorAll(":scope > [data-sortable-row]")];

/**
 * What belongs to a row itself, not to a list of rows inside it.
 * @template {string} Selector
 * @param {HTMLElement} row
 * @param {Selector} selector
 */
const ownOf = (row, selector) =>
  [...row.querySelectorAll(selector)].filter((each) => each.closest("[data-sortable-row]") === row);

/** @param {HTMLElement} list */
export const renumber = (list) => {
  const rows = rowsOf(list);
  rows.forEach((row, index) => {
    for (const label of ownOf(row, "[data-sortable-position]")) label.textContent = String(index + 1);
    for (const input of ownOf(row, "input[data-sortable-order]")) input.value = String(index + 1);
    const buttons = { up: index === 0, down: index === rows.length - 1 };
    for (const [way, atEnd] of Object.entries(buttons)) {
      ownOf(row, `[data-sortable-move="${way}"]`)[0]?.setAttribute("aria-disabled", String(atEnd));
    }
  });
};

/** @type {(list: HTMLElement, row: HTMLElement) => void} */
const changed = (list, row) => {
  renumber(list);
  const rows = rowsOf(list);
  const order = rows.map((each) => each.dataset.id ?? "");
  row.classList.add("is-moved");
  row.addEventListener("animationend", () => row.classList.remove("is-moved"), { once: true });
  announce(`Row moved to place ${rows.indexOf(row) + 1} of ${rows.length}`);
  list.dispatchEvent(new CustomEvent("rows:reordered", { bubbles: true, detail: { order } }));
};

/** @type {(row: HTMLElement, way: string | undefined) => void} */
const move = (row, way) => {
  const list = row.parentElement;
  if (!list) return;
  const rows = rowsOf(list);
  const target = rows[rows.indexOf(row) + (way === "up" ? -1 : 1)];
  if (!target) return;
  const focused = document.activeElement;
  if (way === "up") target.before(row);
  else target.after(row);
  if (focused instanceof HTMLElement) focused.focus(); // moving an element takes the focus away from it
  changed(list, row);
};

/** @param {string} text */
const announce = (text) => {
  let region = document.getElementById("sortable-announcer");
  if (!region) {
    region = document.createElement("div");
    region.id = "sortable-announcer";
    region.className = "visually-hidden";
    region.setAttribute("aria-live", "polite");
    document.body.append(region);
  }
  region.textContent = text;
};

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-sortable-move]");
  const row = button?.closest("[data-sortable-row]");
  if (button && row) move(row, button.dataset.sortableMove);
});

document.addEventListener("keydown", (event) => {
  const way = { ArrowUp: "up", ArrowDown: "down" }[event.key];
  const row = way && event.altKey && event.target.closest("[data-sortable-row]");
  if (!row) return;
  event.preventDefault();
  move(row, way);
});

const prepare = () => {
  for (const list of document.querySelectorAll("[data-sortable-rows]:not([data-sortable-ready])")) {
    list.dataset.sortableReady = "";
    renumber(list);
    if (typeof Sortable === "undefined") continue;
    Sortable.create(list, {
      draggable: ">[data-sortable-row]",
      handle: "[data-sortable-handle]",
      ghostClass: "is-dragged",
      animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 120,
      onEnd: (event) => event.oldIndex !== event.newIndex && changed(list, event.item),
    });
  }
};

// Whoever adds or removes a row says so.
document.addEventListener("rows:changed", (event) => {
  prepare();
  renumber(event.target);
});

onContent(prepare);
