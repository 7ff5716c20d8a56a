// The preview follows the row one is in.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("#rubric-form [data-sortable-row]");
  const select = document.querySelector("select[data-preview-row]");
  const id = row?.dataset.id;
  if (!id || !select || select.value === id) return;
  const known = [...select.options].some((option) => option.value === id);
  if (!known) select.add(new Option("…", id)); // a new row, named with the next answer
  select.value = id;
  select.dispatchEvent(new Event("change", { bubbles: true }));
});
// Notes that say the same as before stay as they are: open explanations stay open, long rubrics stay quick.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const fresh = event.detail.fragment.firstElementChild;
  const digest = event.detail.target.dataset.digest;
  if (digest !== undefined && fresh?.getAttribute("data-digest") === digest) event.detail.shouldSwap = false;
});
