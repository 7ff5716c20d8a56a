// Folds with data-kept-open stay as this device left them. Runs while the page is read, before it is painted, so it is
// not deferred.
(() => {
  const seen = new WeakSet();
  /** @param {Element} fold */
  const place = (fold) => `rubricweb.fold:${location.pathname}#${fold.id}`;

  new MutationObserver(() => {
    for (const fold of document.querySelectorAll("details[data-kept-open]")) {
      if (seen.has(fold)) continue;
      seen.add(fold);
      try {
        fold.open = JSON.parse(localStorage.getItem(place(fold)) ?? String(fold.open));
      } catch {
        // storage is blocked: it is as the page has it
      }
    }
  }).observe(document, { childList: true, subtree: true });

  document.addEventListener("click", (event) => {
    const fold = event.target.closest("summary")?.parentElement;
    if (!(fold instanceof HTMLDetailsElement) || !("keptOpen" in fold.dataset)) return;
    try {
      localStorage.setItem(place(fold), String(!fold.open));
    } catch {
      // then the choice lasts for this page only
    }
  });
})();
