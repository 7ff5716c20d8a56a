// Comments: Ctrl+Enter sends the one that is being written; after an @ the members are offered.

import { isCtrlEnter } from "../shared/keys.js";
import { one } from "../shared/one.js";

const BOX = "textarea[data-comment-text]";

/** @param {Event} event */
const box = (event) => (event.target instanceof Element ? event.target.closest(BOX) : null);
const list = () => document.getElementById("comment-people");
const people = () => [...document.querySelectorAll("#comment-people > li")];
const offered = () => people().filter((person) => !person.hidden);
const isOpen = () => list()?.hidden === false;

// The name that is being typed: what stands between an @ and the caret.
// Names others see may be begun with a quotation mark; what is chosen is the user name in place of both.
/** @param {HTMLTextAreaElement} text */
const begun = (text) =>
  /(?:^|[^\w@.+/-])@("[^"\n]{0,40}|[\w.+-]{0,40})$/.exec(text.value.slice(0, text.selectionStart))?.[1];

/** @param {HTMLElement} person */
const choose = (person) => {
  for (const each of people()) each.setAttribute("aria-selected", String(each === person));
  person.scrollIntoView({ block: "nearest" });
  const text = document.activeElement;
  if (text?.matches(BOX)) text.setAttribute("aria-activedescendant", person.id);
};

const close = () => {
  const shown = list();
  if (shown) shown.hidden = true;
  for (const text of document.querySelectorAll("[aria-activedescendant][data-comment-text]"))
    text.removeAttribute("aria-activedescendant");
};

/** @param {HTMLTextAreaElement} text */
const offer = (text) => {
  const name = begun(text)?.replace('"', "").toLowerCase();
  if (name === undefined || !list()) return close();
  for (const person of people())
    person.hidden = !`${person.dataset.username} ${person.textContent}`.toLowerCase().includes(name);
  if (!offered().length) return close();
  const shown = one("#comment-people");
  text.after(shown);
  text.setAttribute("aria-controls", "comment-people");
  shown.hidden = false;
  choose(offered()[0]);
};

/** @type {(text: HTMLTextAreaElement, person: HTMLElement) => void} */
const insert = (text, person) => {
  const start = text.selectionStart - (begun(text) ?? "").length;
  text.setRangeText(`${person.dataset.username} `, start, text.selectionStart, "end");
  close();
};

document.addEventListener("input", (event) => {
  const text = box(event);
  if (text) offer(text);
});

// Before the keys of the page: they would go to the next item with the comment half written.
document.addEventListener(
  "keydown",
  (event) => {
    const text = box(event);
    if (!text) return;
    if (isCtrlEnter(event)) {
      event.preventDefault();
      event.stopImmediatePropagation();
      text.form?.requestSubmit(text.form.querySelector("button[type=submit]"));
      return;
    }
    if (!isOpen()) return;
    const shown = offered();
    const at = shown.findIndex((person) => person.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(shown[(at + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % shown.length]);
    } else if (event.key === "Enter" || event.key === "Tab") {
      insert(text, shown[at]);
    } else if (event.key === "Escape") {
      close();
    } else {
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

document.addEventListener("mousedown", (event) => {
  const person = event.target.closest("#comment-people > li");
  const text = document.activeElement?.closest(BOX);
  if (!person || !text) return;
  event.preventDefault(); // the caret stays where it is
  insert(text, person);
});

document.addEventListener("focusout", (event) => {
  if (box(event)) close();
});
