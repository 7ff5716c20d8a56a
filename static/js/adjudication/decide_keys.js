// The keys of pages where disagreements are decided: the label, then 1 to 4 for the cause, which sends the decision.
// In the field of the reason Ctrl+Enter sends it.

import { areSingleKeysOn, hasModifier, isCtrlEnter, isDialogOpen, isTyping } from "../shared/keys.js";
import { one } from "../shared/one.js";
import { toast } from "../shared/toast.js";

const FORM = "form[data-decide]";
const FOLDED = /** @type {Record<string, string>} */ ({
  g: "#guidelines > summary",
  r: "#reference > summary",
});

/** @typedef {(key: string) => boolean} Press whether the key meant something here */
// Somebody who comes back to a decision begins with the label again.
/** @type {HTMLInputElement | null} */
let chosen = null;

// Several criteria may have a form: the one somebody is in, else the one the page was opened for.
const form = () =>
  /** @type {HTMLFormElement | null} */ (
    document.activeElement?.closest(FORM) ??
      document.querySelector(
        `.criterion.is-active :is(.comparison__decide[open], div.comparison__decide) ${FORM}`,
      ) ??
      document.querySelector(`.comparison__decide[open] ${FORM}`)
  );

const begun = () => (chosen?.form === form() ? chosen : null);

/** @type {Press} */
const label = (key) => {
  const radio = form()?.querySelector(`input[data-label-key~="${CSS.escape(key)}"]`);
  if (!radio) return false;
  radio.focus();
  radio.click();
  chosen = radio;
  return true;
};

/** @type {Press} */
const cause = (key) => {
  const deciding = form();
  const radio = deciding?.querySelector(`input[data-cause-key="${CSS.escape(key)}"]`);
  if (!deciding || !radio) return false;
  radio.click();
  const { majority } = deciding.dataset;
  const reason = one("textarea", deciding);
  if (majority && majority !== begun()?.value && !reason.value.trim()) reason.focus();
  else deciding.requestSubmit();
  return true;
};

/**
 * A capital decides with its label and the cause that follows: the judge was wrong where it said something else, else
 * people were.
 * @type {Press}
 */
const decideAtOnce = (key) => {
  const deciding = form();
  if (!deciding || !label(key.toLowerCase())) return false;
  const { judged } = deciding.dataset;
  const follows = judged && judged !== chosen?.value ? "judge_wrong" : "human_wrong";
  const radio = deciding.querySelector(`input[name="cause"][value="${follows}"]`);
  return radio ? cause(radio.dataset.causeKey ?? "") : true;
};

/**
 * The other disagreements of the item stand above and below the open one.
 * @type {Press}
 */
const step = (key) => {
  const units = [...document.querySelectorAll(".criterion")];
  const at = units.findIndex((unit) => unit.classList.contains("is-active"));
  const link = units[at + (key === "j" ? 1 : -1)]?.querySelector("a[data-unit]");
  link?.click();
  return Boolean(link);
};

/** @type {Press} */
const press = (key) => {
  if (/^[MUC]$/.test(key)) return decideAtOnce(key);
  if ((key === "j" || key === "k") && step(key)) return true;
  const isDigit = /^[1-9]$/.test(key);
  if (isDigit && begun() ? cause(key) : label(key)) return true;
  const selector = `[data-page-key="${CSS.escape(key)}"]`;
  const control = FOLDED[key]
    ? document.querySelector(FOLDED[key])
    : (form()?.querySelector(selector) ?? document.querySelector(`${selector}:not(${FORM} *)`));
  if (!control) return false;
  if (control.matches("textarea")) control.focus();
  else control.click();
  return true;
};

document.addEventListener("DOMContentLoaded", () => {
  const active = document.querySelector(".criterion.is-active");
  if (!active) return;
  if (document.querySelectorAll(".criterion").length > 1) {
    active.scrollIntoView({ block: "start" });
    // Where the panes scroll by themselves, the page itself stays at its top.
    if (getComputedStyle(active.closest(".panes__side") ?? active).overflowY === "auto")
      window.scrollTo(0, 0);
  }
  // Tab goes on from the criterion, not from the top of the page; what was refused has the focus already.
  if (document.activeElement !== document.body || location.hash || document.querySelector("main [autofocus]"))
    return;
  active.focus({ preventScroll: true });
});

document.addEventListener("change", (event) => {
  const radio = event.target;
  if (radio instanceof HTMLInputElement && radio.matches(`${FORM} [name="verdict"]`)) chosen = radio;
});

// Refused because somebody was faster, it comes back as it was typed, with what they decided.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status !== 409 || !detail.requestConfig.elt.matches(FORM)) return;
  detail.shouldSwap = true;
  detail.isError = false;
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.requestConfig.elt.matches(FORM))
    document.querySelector(`${FORM} .field--invalid :is(input, textarea)`)?.focus();
});

document.addEventListener("htmx:sendError", (event) => {
  if (event.target.matches(FORM))
    toast("No answer from the server. What you wrote is still here: once it is back, decide again.", "error");
});

document.addEventListener("keydown", (event) => {
  if (isDialogOpen() || event.defaultPrevented) return;
  const isReason = event.target.matches?.(`${FORM} textarea`);
  if (isCtrlEnter(event)) {
    if (!isReason) return;
    event.preventDefault();
    event.target.closest("form")?.requestSubmit();
    return;
  }
  if (event.key === "Escape") {
    if (isReason) event.target.blur();
    else chosen = null;
    return;
  }
  if (hasModifier(event) || isTyping(event.target)) return;
  // A key that is held down must not answer the page that follows.
  if (event.repeat || !areSingleKeysOn()) return;
  if (press(event.key)) event.preventDefault();
});
