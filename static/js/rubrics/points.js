// How many points of the score each criterion moves, while typing; the server says the same
// (engine/scoring/points.py).

import { one } from "../shared/one.js";
import { fieldText, isLean } from "./criteria/line.js";

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** @param {string} typed */
export const numberIn = (typed) => {
  const text = typed.trim().replace("−", "-");
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? number : null;
};

// How far apart the best and the worst option are worth; 1 for a criterion that is no choice.
/** @param {HTMLElement} row */
const spanOf = (row) => {
  if (isLean(row)) return Number(row.dataset.span ?? 1);
  if (!row.querySelector("input[data-kind-choice][value=choice]:checked")) return 1;
  const values = [...row.querySelectorAll("[data-option-list] [data-sortable-row]")]
    .filter((option) => !one("input[name$='-na']", option).checked)
    .filter(
      (option) =>
        one("input[data-option-label]", option).value.trim() ||
        one("input[name$='-value']", option).value.trim(),
    )
    .map((option) => numberIn(one("input[name$='-value']", option).value) ?? 0);
  return values.length > 1 ? Math.max(...values) - Math.min(...values) : 1;
};

// As the points filter writes it.
/** @param {number} points */
const shown = (points) => {
  if (points === 0) return "0";
  const size = Math.abs(points);
  return `${size < 0.5 ? "<" : ""}${points < 0 ? "−" : "+"}${Math.max(Math.round(size), 1)}`;
};

export const refreshPoints = () => {
  const rows = [...one("#rubric-form").querySelectorAll("[data-criterion-row]")];
  const weights = rows.map((row) => numberIn(fieldText(row, "weight")));
  const sum = (/** @type {number} */ sign) =>
    weights.reduce((/** @type {number} */ total, weight) => total + Math.max(sign * (weight ?? 0), 0), 0);
  const total = sum(1) || sum(-1) || 1;
  rows.forEach((row, index) => {
    const weight = weights[index];
    const points = weight === null ? "–" : shown((100 * weight * spanOf(row)) / total);
    for (const output of row.querySelectorAll("[data-points]")) output.textContent = points;
  });
};

document.addEventListener("input", (event) => {
  if (event.target.matches("[data-weight], [data-kind-choice], [data-option-list] input")) refreshPoints();
});
document.addEventListener("rows:changed", refreshPoints);
