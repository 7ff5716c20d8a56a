// Says when the form holds something unsaved, asks before leaving it, and saves on Ctrl+S.

import { one } from "../shared/one.js";

const FORMS = "[data-rubric-form], [data-source-form]";
// Everything typed or moved so far; what a page brings back unsaved was typed on the one before.
let edits = document.querySelector('[data-save-words][data-state="offline"]') ? 1 : 0;
let saved = 0; // how much of it is stored
let sent = 0; // how much of it is on its way

/** @type {(state: string, text: string) => void} */
const say = (state, text) => {
  const words = one("[data-save-words]");
  words.dataset.state = state;
  words.textContent = text;
};

/** @param {{ target: HTMLElement }} event */
const touch = (event) => {
  if (!event.target.closest(FORMS)) return;
  edits += 1;
  say("offline", "Unsaved changes");
};

for (const name of /** @type {const} */ (["input", "rows:changed", "rows:reordered"]))
  document.addEventListener(name, touch);

document.addEventListener("submit", (event) => {
  if (!event.target.matches(FORMS)) return;
  say("saving", "Saving…");
  if (!event.target.hasAttribute("hx-post")) saved = edits;
});

// Not when it is submitted: of two saves close together the second is sent once the first is answered.
document.addEventListener("htmx:beforeSend", (event) => {
  if (event.target.matches(FORMS)) sent = edits;
});

// What was typed while the answer was on its way is not what was saved.
document.addEventListener("rubric:saved", () => {
  saved = sent;
  document.querySelector("[data-conflict]")?.remove();
  if (edits > saved) say("offline", "Unsaved changes");
});

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Redirect")) saved = edits;
});

for (const name of /** @type {const} */ (["htmx:sendError", "htmx:responseError"])) {
  document.addEventListener(
    name,
    (event) => event.target.matches(FORMS) && say("offline", "Not saved. Try again."),
  );
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "editor") return;
  // The form came back: saved, as before a publication that was refused, or not.
  if (one("[data-save-words]").dataset.state === "saved") saved = edits;
  document.getElementById("problems")?.focus();
});

window.addEventListener("beforeunload", (event) => edits > saved && event.preventDefault());

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
  const form = document.querySelector(FORMS);
  if (!form) return;
  event.preventDefault();
  one("[data-save]", form).click(); // a click tells htmx which button; requestSubmit would not
});
