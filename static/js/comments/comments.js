// Comments: Ctrl+Enter sends the one that is being written; after an @ the members are offered.

import { isCtrlEnter } from "../shared/keys.js";

const box = (event) => event.target.closest?.("[data-comment-text]");
const list = () => document.getElementById("comment-people");
const offered = () => [...(list()?.children ?? [])].filter((person) => !person.hidden);
const isOpen = () => list() && !list().hidden;

// The name that is being typed: what stands between an @ and the caret.
// Names others see may be begun with a quotation mark; what is chosen is the user name in place of both.
const begun = (text) =>
  /(?:^|[^\w@.+/-])@("[^"\n]{0,40}|[\w.+-]{0,40})$/.exec(text.value.slice(0, text.selectionStart))?.[1];

const choose = (person) => {
  for (const one of list().children) one.setAttribute("aria-selected", String(one === person));
  person.scrollIntoView({ block: "nearest" });
  const text = document.activeElement;
  if (text.matches("[data-comment-text]")) text.setAttribute("aria-activedescendant", person.id);
};

const close = () => {
  if (list()) list().hidden = true;
  for (const text of document.querySelectorAll("[aria-activedescendant][data-comment-text]"))
    text.removeAttribute("aria-activedescendant");
};

const offer = (text) => {
  const name = begun(text)?.replace('"', "").toLowerCase();
  if (name === undefined || !list()) return close();
  for (const person of list().children)
    person.hidden = !`${person.dataset.username} ${person.textContent}`.toLowerCase().includes(name);
  if (!offered().length) return close();
  text.after(list());
  text.setAttribute("aria-controls", "comment-people");
  list().hidden = false;
  choose(offered()[0]);
};

const insert = (text, person) => {
  const start = text.selectionStart - begun(text).length;
  text.setRangeText(`${person.dataset.username} `, start, text.selectionStart, "end");
  close();
};

document.addEventListener("input", (event) => {
  if (box(event)) offer(event.target);
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
      text.form.requestSubmit(text.form.querySelector("[type=submit]"));
      return;
    }
    if (!isOpen()) return;
    const people = offered();
    const at = people.findIndex((person) => person.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(people.at((at + (event.key === "ArrowDown" ? 1 : -1)) % people.length));
    } else if (event.key === "Enter" || event.key === "Tab") {
      insert(text, people[at]);
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
  const text = document.activeElement;
  if (!person || !text?.matches("[data-comment-text]")) return;
  event.preventDefault(); // the caret stays where it is
  insert(text, person);
});

document.addEventListener("focusout", (event) => {
  if (box(event)) close();
});
