// The results of a run that goes on are not redrawn while rows are selected in them, or a choice is made and not sent:
// rows move, and what was selected would be lost. They are asked for again, and shown once nothing is any more.

import { isChanged } from "../shared/typed_text.js";

/** @param {HTMLElement} results */
const isInUse = (results) =>
  results.querySelector('input[form="selection"]:checked') !== null ||
  [...results.querySelectorAll("select")].some(isChanged);

for (const name of /** @type {const} */ (["htmx:beforeSwap", "htmx:oobBeforeSwap"])) {
  document.addEventListener(name, (event) => {
    const { target } = event.detail;
    if (target.id === "run-results" && isInUse(target)) event.detail.shouldSwap = false;
  });
}
