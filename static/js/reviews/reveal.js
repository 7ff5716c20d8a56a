// After submitting: y keeps, x changes, b says unclear on the open criterion, a keeps all that are left.

import { areSingleKeysOn, hasModifier, isCtrlEnter, isDialogOpen, isHeld, isTyping } from "../shared/keys.js";
import { one } from "../shared/one.js";

const articles = () => [...document.querySelectorAll("[data-revealed]")];
const active = () =>
  document.activeElement?.closest("[data-revealed]") ?? document.querySelector("[data-revealed].is-active");

/** @param {HTMLElement} article */
const open = (article) => {
  for (const each of articles()) each.classList.toggle("is-active", each === article);
  article.focus({ preventScroll: true });
  article.scrollIntoView({ block: "nearest" });
};

/** @param {number} by */
const step = (by) => {
  const all = articles();
  const from = active();
  const at = from ? all.indexOf(from) : -1;
  const target = at < 0 ? all[0] : all[at + by];
  if (target) open(target);
  return Boolean(target);
};

/** @param {string} key */
const press = (key) => {
  if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
  const selector = `[data-reveal-key~="${CSS.escape(key)}"]`;
  if (key === "a") {
    const all = document.querySelector(`.revise__all ${selector}`);
    all?.click();
    return Boolean(all);
  }
  const article = active();
  const control = article?.querySelector(selector);
  if (!article || !control) return false;
  const folded = control.closest("details.comparison__decide");
  if (folded) folded.open = true;
  const change = control.closest("details.revise__change");
  // Labels and the reason belong to a change that was begun.
  if (change && !change.open && control.tagName !== "SUMMARY") return false;
  if (control.matches("textarea")) control.focus();
  else control.click();
  if (control.matches("input")) one(".revise textarea", article).focus();
  return true;
};

// Before the keys of the review, which submit the page or send one on to the next item.
document.addEventListener(
  "keydown",
  (event) => {
    if (isDialogOpen() || isHeld(event)) return;
    if (isCtrlEnter(event)) {
      const change = event.target.closest?.(".revise__change[open]");
      if (!change) return;
      event.preventDefault();
      one("[data-reveal-change]", change).click();
      return;
    }
    const revealed = event.target.closest?.("[data-revealed]");
    if (event.key === "Escape" && revealed && event.target.matches(".revise textarea")) {
      open(revealed);
      return;
    }
    if (hasModifier(event) || isTyping(event.target) || !areSingleKeysOn()) return;
    if (press(event.key)) event.preventDefault();
  },
  { capture: true },
);

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "revealed") return;
  const next =
    event.target.querySelector("textarea[aria-invalid]") ??
    event.target.querySelector("[data-revealed].is-active");
  if (next) next.focus();
  else document.querySelector("[data-review-submit]")?.focus({ preventScroll: true });
});

// A refusal comes with the form as it was typed.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id === "revealed" && [409, 422].includes(event.detail.xhr.status)) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
  }
});
