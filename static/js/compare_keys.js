// The keys of an item in a comparison: Ctrl+Enter decides, single letters while nobody is typing.
(() => {
  const TYPED = 'textarea, select, [contenteditable], input:not([type="radio"], [type="checkbox"])';

  // Several criteria have a form: the one somebody is in, else the one the page was opened for.
  const form = () =>
    document.activeElement?.closest(".comparison__decide form") ??
    document.querySelector(".criterion.is-active .comparison__decide[open] form") ??
    document.querySelector(".comparison__decide[open] form");

  const control = (key) => {
    const selector = `[data-compare-key~="${CSS.escape(key)}"]`;
    return form()?.querySelector(selector) ?? document.querySelector(`:is(.pane__head, .pane__foot) ${selector}`);
  };

  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form()?.requestSubmit();
      return;
    }
    if (event.key === "Escape" && event.target.matches(".comparison__decide textarea")) event.target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPED)) return;
    if (document.documentElement.dataset.singleKeys === "off") return;
    const found = event.key === "r" ? document.querySelector("#reference > summary") : control(event.key);
    if (!found) return;
    event.preventDefault();
    if (found.matches("textarea")) found.focus();
    else found.click();
  });

  document.addEventListener("DOMContentLoaded", () => {
    const active = document.querySelector(".criterion.is-active");
    if (!active) return;
    active.scrollIntoView({ block: "start" });
    // Where the panes scroll by themselves, the page itself stays at its top.
    if (getComputedStyle(active.closest(".panes__side")).overflowY === "auto") window.scrollTo(0, 0);
  });
})();
