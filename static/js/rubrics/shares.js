// Each weight's share of Σ|w|, while typing; the server says the same (engine/scoring/weight_shares.py).

import { one } from "../shared/one.js";

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/** @param {HTMLInputElement} input */
const weightOf = (input) => {
  const text = input.value.trim().replace("−", "-");
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? Math.abs(number) : null;
};

// As the percent filter writes it: never the exact end unless it is one.
/** @param {number} share */
const percent = (share) => {
  const rounded = Math.round(share * 100);
  if (share < 1 && rounded >= 100) return ">99%";
  if (share > 0 && rounded <= 0) return "<1%";
  return `${rounded}%`;
};

const refresh = () => {
  const inputs = [...one("#rubric-form").querySelectorAll("input[data-weight]")];
  const weights = inputs.map(weightOf);
  const total = weights.reduce((/** @type {number} */ sum, weight) => sum + (weight ?? 0), 0);
  inputs.forEach((input, index) => {
    const weight = weights[index];
    const share = weight !== null && total > 0 ? percent(weight / total) : "–";
    for (const output of input.closest("[data-criterion-row]")?.querySelectorAll("[data-share]") ?? [])
      output.textContent = share;
  });
};

document.addEventListener("input", (event) => event.target.matches("[data-weight]") && refresh());
document.addEventListener("rows:changed", refresh);
