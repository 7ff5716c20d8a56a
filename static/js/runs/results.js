// The results of a run that goes on are not redrawn while rows are selected in them, or a choice is made and not sent:
// rows move, and what was selected would be lost. They are asked for again, and shown once nothing is any more.

import { isChanged } from "../shared/typed_text.js";

/** @param {HTMLElement} results */
const isInUse = (results) =>
  results.querySelector('input[form="selection"]:checked') !== null ||
  [...results.querySelectorAll("select")].some(isChanged);

let isOutdated = false; // a redraw was not shown

for (const name of /** @type {const} */ (["htmx:beforeSwap", "htmx:oobBeforeSwap"])) {
  document.addEventListener(name, (event) => {
    const { target } = event.detail;
    if (target.id !== "run-results") return;
    isOutdated = isInUse(target);
    if (isOutdated) event.detail.shouldSwap = false;
  });
}

// Of a run that has ended the results come first, as they do when its page is opened anew.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "run-live") return;
  const results = document.querySelector("#run-results[data-first]");
  const progress = document.getElementById("run-progress");
  if (results && progress && !(results.compareDocumentPosition(progress) & Node.DOCUMENT_POSITION_FOLLOWING))
    progress.before(results);
});

// A run that does not go on asks for nothing by itself.
document.addEventListener("change", () => {
  const results = document.getElementById("run-results");
  if (!isOutdated || !results || isInUse(results)) return;
  htmx.ajax("GET", location.href, { target: "#run-results", swap: "morph:outerHTML" });
});
