// Of the vote rules, those that fit a criterion's kind and scale; the server says the same in the first place.

import { one } from "../shared/one.js";
import { isLean } from "./criteria/line.js";

/** @param {HTMLElement} row */
const scaleOf = (row) => {
  const chosen = (/** @type {string} */ name) => row.querySelector(`input[${name}]:checked`)?.value;
  const kind = chosen("data-kind-choice");
  return kind === "choice" ? chosen("data-scale-choice") : kind;
};

/** @param {HTMLElement} row */
const fit = (row) => {
  if (isLean(row)) return;
  const scale = scaleOf(row);
  for (const group of one("select[data-vote-rule]", row).querySelectorAll("optgroup")) {
    group.disabled = group.dataset.scale !== scale;
  }
  const select = one("select[data-vote-rule]", row);
  if (select.selectedOptions[0]?.closest("optgroup")?.disabled) select.value = "";
};

document.addEventListener("change", (event) => {
  const row =
    event.target.matches("[data-kind-choice], [data-scale-choice]") &&
    event.target.closest("[data-criterion-row]");
  if (row) fit(row);
});

document.addEventListener("rows:changed", (event) => {
  for (const row of event.target.querySelectorAll(":scope > [data-criterion-row]")) fit(row);
});
