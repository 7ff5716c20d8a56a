// Notes that say the same as before stay as they are: open explanations stay open, long rubrics stay quick.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const fresh = event.detail.fragment.firstElementChild;
  const digest = event.detail.target.dataset.digest;
  if (digest !== undefined && fresh?.dataset.digest === digest) event.detail.shouldSwap = false;
});
