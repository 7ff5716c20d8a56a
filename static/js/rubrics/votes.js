// Of the vote rules, those that fit a criterion's kind and scale; the server says the same in the first place.

const scaleOf = (row) => {
  const chosen = (name) => row.querySelector(`[${name}]:checked`)?.value;
  const kind = chosen("data-kind-choice");
  return kind === "choice" ? chosen("data-scale-choice") : kind;
};

const fit = (row) => {
  const scale = scaleOf(row);
  for (const group of row.querySelectorAll("[data-vote-rule] optgroup")) {
    group.disabled = group.dataset.scale !== scale;
  }
  const select = row.querySelector("[data-vote-rule]");
  if (select.selectedOptions[0]?.parentElement.disabled) select.value = "";
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
