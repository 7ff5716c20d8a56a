// The keys of the review: Ctrl+Enter anywhere, single letters while nobody is typing.

import { tell } from "../shared/events.js";
import { areSingleKeysOn, hasModifier, isCtrlEnter, isDialogOpen, isHeld, isTyping } from "../shared/keys.js";
import { showPane } from "./form.js";

const KEYS = "jkmuceznNpgrsfhybxd/123456789";

document.addEventListener("keydown", (event) => {
  if (skipsByNumber(event)) event.preventDefault();
  if (isDialogOpen() || event.defaultPrevented) return;
  if (isCtrlEnter(event)) {
    event.preventDefault();
    if (isHeld(event)) return;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur(); // what is being typed is saved by leaving it
    const compare = event.shiftKey ? document.querySelector("[data-review-compare]") : null;
    (compare ?? document.querySelector("[data-review-submit]"))?.click();
    return;
  }
  if (isHeld(event)) return;
  if (event.key === "Escape" && event.target.closest("[data-criterion] textarea")) {
    event.target.closest("[data-criterion]")?.focus({ preventScroll: true });
    return;
  }
  if (hasModifier(event) || isTyping(event.target) || !areSingleKeysOn() || !KEYS.includes(event.key)) return;
  const handled = !tell("review:key", { key: event.key });
  if (handled || press(event.key)) event.preventDefault();
});

/** @param {string} key */
const press = (key) => {
  const control =
    key === "n" || key === "p" ? neighbour(key) : document.querySelector(`[data-review-key="${key}"]`);
  if (!control) return false;
  control.click();
  const details = control.closest("details");
  if (details) {
    showPane("main");
    details.scrollIntoView({ block: "nearest" });
  }
  return true;
};

/**
 * In the dialog a number chooses its reason, which skips; the last one leads to the field for another.
 * @param {KeyboardEvent & { target: HTMLElement }} event
 */
const skipsByNumber = (event) => {
  const dialog = document.querySelector("dialog#skip-dialog[open]");
  if (!dialog || hasModifier(event) || isHeld(event) || isTyping(event.target) || !areSingleKeysOn())
    return false;
  const control = dialog.querySelector(`[data-skip-key="${CSS.escape(event.key)}"]`);
  if (control?.matches("textarea")) control.focus();
  else control?.click();
  return control !== null;
};

/** @param {string} key */
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
  // Not autofocus: the browser would scroll to it, away from what is to be read first.
  document.querySelector("[data-first-focus]")?.focus({ preventScroll: true });
});
