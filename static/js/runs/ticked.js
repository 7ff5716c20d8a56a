// The list of runs is not redrawn while some are ticked: the ticks would be lost.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target } = event.detail;
  if (target.id === "runs" && target.querySelector('input[form="run-pair"]:checked'))
    event.detail.shouldSwap = false;
});
