// The criteria of a new queue: all, none, and how many of them are chosen.

import { one } from "../../shared/one.js";

const CHOICE = "[data-chosen-criteria]";

/** @param {ParentNode} choice */
const boxes = (choice) =>
  /** @type {HTMLInputElement[]} */ ([...choice.querySelectorAll('input[type="checkbox"]')]);

/** @param {ParentNode} choice */
const tell = (choice) => {
  const all = boxes(choice);
  const chosen = all.filter((box) => box.checked).length;
  one("[data-criteria-count]", choice).textContent = `${chosen} of ${all.length} chosen`;
};

const tellAll = () => {
  for (const choice of document.querySelectorAll(CHOICE)) tell(choice);
};

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("[data-choose-criteria]") : null;
  const choice = button?.closest(CHOICE);
  if (!button || !choice) return;
  for (const box of boxes(choice)) box.checked = button.getAttribute("data-choose-criteria") === "all";
  tell(choice);
});

document.addEventListener("change", (event) => {
  const choice = event.target instanceof Element ? event.target.closest(CHOICE) : null;
  if (choice) tell(choice);
});

document.addEventListener("htmx:afterSettle", tellAll);
tellAll();
