// Marks of a chart are links: the arrows go from one to the next, and the line below the chart says at once what the
// one under the pointer, or with the focus, is of.

import { hasModifier } from "../shared/keys.js";

/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** @param {{ target: HTMLElement }} event */
const tell = ({ target }) => {
  const mark = target.closest?.("a");
  const told = mark?.closest("[data-chart]")?.closest("figure")?.querySelector("[data-readout]");
  if (mark && told) told.textContent = mark.getAttribute("aria-label");
};

document.addEventListener("focusin", tell);
document.addEventListener("pointerover", tell);

document.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  const mark = event.target.closest("a");
  const chart = mark?.closest("[data-chart]");
  if (!step || !mark || !chart || hasModifier(event)) return;
  event.preventDefault(); // else the page scrolls sideways
  const marks = [...chart.querySelectorAll("a")];
  marks[marks.indexOf(mark) + step]?.focus();
});
