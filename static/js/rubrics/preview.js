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
// Notes that say the same as before stay as they are: open explanations stay open, long rubrics stay quick.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const fresh = event.detail.fragment.firstElementChild;
  const digest = event.detail.target.dataset.digest;
  if (digest !== undefined && fresh?.dataset.digest === digest) event.detail.shouldSwap = false;
});
