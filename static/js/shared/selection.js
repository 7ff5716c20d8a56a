// Rows selected in a list: the box in the head takes the whole page, Shift+click takes a range, and the bar with
// what can be done with them (templates/shared/_selection.html) counts them. The stylesheet shows it with the first.

import { onContent } from "./events.js";

const BOXES = 'input[form="selection"]';

const boxes = () => [...document.querySelectorAll(BOXES)];

/** @type {HTMLInputElement | null} */
let last = null; // where a range begins

const show = () => {
  const bar = document.querySelector("form[data-selection]");
  if (!bar) return;
  const rows = boxes();
  const selected = rows.filter((box) => box.checked).length;
  const all = bar.querySelector("input[data-selection-all]")?.checked ?? false;
  const count = bar.querySelector("[data-selection-count]");
  if (count) count.textContent = all ? "All selected" : `${selected} selected`;
  const head = document.querySelector("input[data-selection-page]");
  if (!head) return;
  head.hidden = false;
  head.checked = selected > 0 && selected === rows.length;
  head.indeterminate = selected > 0 && selected < rows.length;
};

/** @type {(to: HTMLInputElement) => void} */
const takeRange = (to) => {
  const rows = boxes();
  const ends = [rows.indexOf(last ?? to), rows.indexOf(to)].sort((a, b) => a - b);
  for (const box of rows.slice(ends[0], ends[1] + 1)) box.checked = to.checked;
};

document.addEventListener("click", (event) => {
  const box = event.target.closest?.("input");
  if (!box) return;
  if (box.matches("[data-selection-page]")) for (const each of boxes()) each.checked = box.checked;
  else if (box.matches(BOXES)) {
    if (event.shiftKey && last?.isConnected) takeRange(box);
    last = box;
  } else if (!box.matches("[data-selection-all]")) return;
  show();
});

onContent(show);
