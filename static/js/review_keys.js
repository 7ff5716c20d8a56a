// The keys of the review: Ctrl+Enter anywhere, single letters while nobody is typing.
(() => {
  const KEYS = "jkmuceznNpgrsfhybx/123456789";
  const TYPED = 'textarea, select, [contenteditable], input:not([type="radio"], [type="checkbox"])';

  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      document.activeElement?.blur(); // what is being typed is saved by leaving it
      document.querySelector("[data-review-submit]")?.click();
      return;
    }
    if (event.key === "Escape" && event.target.closest("[data-criterion] textarea")) {
      event.target.closest("[data-criterion]").focus({ preventScroll: true });
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPED)) return;
    if (document.documentElement.dataset.singleKeys === "off" || !KEYS.includes(event.key)) return;
    const handled = !document.dispatchEvent(
      new CustomEvent("review:key", { detail: { key: event.key }, cancelable: true }),
    );
    if (handled || press(event.key)) event.preventDefault();
  });

  const press = (key) => {
    const control = key === "n" || key === "p" ? neighbour(key) : document.querySelector(`[data-review-key="${key}"]`);
    if (!control) return false;
    control.click();
    const details = control.closest("details");
    if (details) {
      document.querySelector('.panes__switch [value="main"]').checked = true;
      details.scrollIntoView({ block: "nearest" });
    }
    return true;
  };

  const neighbour = (key) => {
    const here = document.querySelector("[data-review-rail] [aria-current]")?.closest("li");
    const there = key === "n" ? here?.nextElementSibling : here?.previousElementSibling;
    return there?.querySelector(".rail__item");
  };

  // The page behind the link is for browsers without script; here its dialog opens instead.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-dialog-open]");
    if (link) event.preventDefault();
  });

  document.addEventListener("review:ready", () => {
    document.querySelector("[data-review-rail] [aria-current]")?.scrollIntoView({ block: "center" });
    window.scrollTo(0, 0);
  });
})();
