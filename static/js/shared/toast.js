// Shows short messages: for a script that calls `toast`, and for the server's HX-Trigger header.

import { one } from "./one.js";

const MILLISECONDS = 6000;

/** @param {PageEvents["toast"]} message */
const show = ({ text, level = "info" }) => {
  if (!text || stands(text)) return;
  const toast = document.createElement("div");
  toast.className = `toast toast--${level}`;
  const words = document.createElement("span");
  words.className = "toast__text";
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--quiet button--small button--icon";
  close.setAttribute("aria-label", "Dismiss");
  close.textContent = "×";
  close.addEventListener("click", () => toast.remove());
  toast.append(words, close);
  one("#toasts").append(toast);
  if (level !== "error") leaveLater(toast); // an error stays until it has been read
};

/**
 * An error that is still to be read is not said again, as a page that polls would.
 * @param {string} text
 */
const stands = (text) =>
  [...document.querySelectorAll("#toasts > .toast--error")].some(
    (toast) => toast.querySelector(".toast__text")?.textContent === text,
  );

/** @param {HTMLElement} toast */
const leaveLater = (toast) => {
  let timer = setTimeout(() => toast.remove(), MILLISECONDS);
  toast.addEventListener("mouseenter", () => clearTimeout(timer));
  toast.addEventListener("mouseleave", () => {
    timer = setTimeout(() => toast.remove(), MILLISECONDS);
  });
};

/**
 * An error stays until it is dismissed.
 * @param {string} text
 * @param {PageEvents["toast"]["level"]} [level]
 */
export const toast = (text, level = "info") => show({ text, level });

document.addEventListener("toast", (event) => show(event.detail));
