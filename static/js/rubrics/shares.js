// Each weight's share of Σ|w|, while typing; the server says the same (engine/weight_shares.py).

const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

const weightOf = (input) => {
  const text = input.value.trim().replace("−", "-");
  const number = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(number) ? Math.abs(number) : null;
};

// As the percent filter writes it: never the exact end unless it is one.
const percent = (share) => {
  const rounded = Math.round(share * 100);
  if (share < 1 && rounded >= 100) return ">99%";
  if (share > 0 && rounded <= 0) return "<1%";
  return `${rounded}%`;
};

const refresh = () => {
  const inputs = [...document.querySelectorAll("#rubric-form [data-weight]")];
  const weights = inputs.map(weightOf);
  const total = weights.reduce((sum, weight) => sum + (weight ?? 0), 0);
  inputs.forEach((input, index) => {
    const known = weights[index] !== null && total > 0;
    const output = input.closest(".criterion-row__weight").querySelector("[data-share]");
    output.textContent = known ? percent(weights[index] / total) : "–";
  });
};

document.addEventListener("input", (event) => event.target.matches("[data-weight]") && refresh());
document.addEventListener("rows:changed", refresh);
