// Shows short messages: for a script that calls `toast`, and for the server's HX-Trigger header.

import { one } from "./one.js";

const MILLISECONDS = 6000;
const LINK_MILLISECONDS = 20_000; // whoever is at something finishes it first

/** @param {PageEvents["toast"]} message */
const show = ({ text, level = "info", link }) => {
  if (!text || stands(text)) return;
  const toast = document.createElement("div");
  toast.className = `toast toast--${level}`;
  const words = document.createElement("span");
  words.className = "toast__text";
  words.textContent = text;
  if (link) {
    for (const earlier of document.querySelectorAll("#toasts > .toast:has(.toast__text > a)"))
      earlier.remove();
    words.append(" ", linked(link));
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--quiet button--small button--icon";
  close.setAttribute("aria-label", "Dismiss");
  close.textContent = "×";
  close.addEventListener("click", () => toast.remove());
  toast.append(words, close);
  one("#toasts").append(toast);
  if (level !== "error") leaveLater(toast, link ? LINK_MILLISECONDS : MILLISECONDS); // an error stays until it has been read
};

/** @param {ToastLink} link */
const linked = ({ url, words, key }) => {
  const made = document.createElement("a");
  made.href = url;
  made.textContent = words;
  made.dataset.reviewKey = key;
  const cap = document.createElement("kbd");
  cap.textContent = key;
  made.append(" ", cap);
  return made;
};

/**
 * An error that is still to be read is not said again, as a page that polls would.
 * @param {string} text
 */
const stands = (text) =>
  [...document.querySelectorAll("#toasts > .toast--error")].some(
    (toast) => toast.querySelector(".toast__text")?.textContent === text,
  );

/** @type {(toast: HTMLElement, milliseconds: number) => void} */
const leaveLater = (toast, milliseconds) => {
  let timer = setTimeout(() => toast.remove(), milliseconds);
  toast.addEventListener("mouseenter", () => clearTimeout(timer));
  toast.addEventListener("mouseleave", () => {
    timer = setTimeout(() => toast.remove(), milliseconds);
  });
};

/**
 * An error stays until it is dismissed.
 * @param {string} text
 * @param {PageEvents["toast"]["level"]} [level]
 * @param {ToastLink} [link] where it leads, and the key of the review page that goes there
 */
export const toast = (text, level = "info", link) => show({ text, level, link });

document.addEventListener("toast", (event) => show(event.detail));
