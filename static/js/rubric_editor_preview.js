// The preview follows the row one is in.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("#rubric-form [data-sortable-row]");
  const select = document.querySelector("[data-preview-row]");
  if (!row || !select || select.value === row.dataset.id) return;
  const known = [...select.options].some((option) => option.value === row.dataset.id);
  if (!known) select.add(new Option("…", row.dataset.id)); // a new row, named with the next answer
  select.value = row.dataset.id;
  select.dispatchEvent(new Event("change", { bubbles: true }));
});
