// data-confirm="question" on a form, a submit button or an hx-* element asks first, in our own dialog.

import { one } from "../shared/one.js";

/** @type {(question: string | undefined, yes: string | undefined) => Promise<boolean>} */
const ask = (question, yes) => {
  const dialog = one("dialog#confirm-dialog");
  one("#confirm-dialog-text", dialog).textContent = question ?? "";
  one("[data-confirm-yes]", dialog).textContent = yes || "Continue";
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
};

/** @type {(form: HTMLFormElement, submitter: HTMLElement | null) => HTMLElement | null} */
const asker = (form, submitter) => submitter?.closest("[data-confirm]") ?? form.closest("[data-confirm]");

/** @type {HTMLFormElement | null} */
let agreed = null; // the form whose question has just been answered with yes

// In the capture phase, so that htmx does not see a submit that is still being asked about.
document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (form === agreed) {
      agreed = null;
      return;
    }
    const element = asker(form, event.submitter);
    if (!element) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask(element.dataset.confirm, element.dataset.confirmLabel).then((yes) => {
      if (!yes) return;
      agreed = form;
      form.requestSubmit(event.submitter);
    });
  },
  true,
);

// Links and buttons that htmx sends by itself, without a form's submit.
document.addEventListener("htmx:confirm", (event) => {
  const element = event.detail.elt;
  if (element instanceof HTMLFormElement || !element.dataset.confirm) return;
  event.preventDefault();
  ask(element.dataset.confirm, element.dataset.confirmLabel).then(
    (yes) => yes && event.detail.issueRequest(true),
  );
});
