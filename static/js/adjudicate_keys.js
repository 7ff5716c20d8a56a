// Deciding by keys: a label, then 1 to 4 for the cause, which sends it. The page that follows is the next unit.
(() => {
  const TYPED = 'textarea, select, [contenteditable], input:not([type="radio"], [type="checkbox"])';
  const form = () => document.querySelector("form[data-adjudicate]");
  // Somebody who comes back to a decision begins with the label again.
  let chosen = null;

  const label = (key) => {
    const radio = form()?.querySelector(`[data-label-key~="${CSS.escape(key)}"]`);
    if (!radio) return false;
    radio.focus();
    radio.click();
    chosen = radio.value;
    return true;
  };

  const cause = (key) => {
    const radio = form()?.querySelector(`[data-cause-key="${CSS.escape(key)}"]`);
    if (!radio || chosen === null) return false;
    radio.click();
    const { majority } = form().dataset;
    const reason = form().querySelector("textarea");
    if (majority && majority !== chosen && !reason.value.trim()) reason.focus();
    else form().requestSubmit();
    return true;
  };

  const press = (key) => {
    const isDigit = /^[1-9]$/.test(key);
    if (isDigit && chosen !== null ? cause(key) : label(key)) return true;
    const control =
      key === "r"
        ? document.querySelector("#reference > summary")
        : document.querySelector(`[data-adjudicate-key="${CSS.escape(key)}"]`);
    if (!control) return false;
    if (control.matches("textarea")) control.focus();
    else control.click();
    return true;
  };

  // Tab goes on from the unit, not from the top of the page; what was refused has the focus already.
  document.addEventListener("DOMContentLoaded", () => {
    if (document.activeElement !== document.body || location.hash || document.querySelector("main [autofocus]")) return;
    document.querySelector(".criterion.is-active")?.focus({ preventScroll: true });
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches?.('form[data-adjudicate] [name="verdict"]')) chosen = event.target.value;
  });

  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]") || event.defaultPrevented) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form()?.requestSubmit();
      return;
    }
    if (event.key === "Escape") {
      if (event.target.matches?.("form[data-adjudicate] textarea")) event.target.blur();
      else chosen = null;
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.(TYPED)) return;
    if (document.documentElement.dataset.singleKeys === "off") return;
    if (press(event.key)) event.preventDefault();
  });
})();
