// The switch for keys that act without Ctrl or Alt, and the ? that opens the sheet of them. The choice is the
// person's, on every device; where nobody is signed in it is kept on this one.

import { areSingleKeysOn, isDialogOpen } from "../shared/keys.js";

const KEY = "rubricweb.single-keys";
const root = document.documentElement;
const isStored = "singleKeys" in root.dataset;

const local = () => {
  try {
    return localStorage.getItem(KEY) === "off" ? "off" : "on";
  } catch {
    return "on";
  }
};

/** @param {string | undefined} state */
const apply = (state) => {
  root.dataset.singleKeys = state;
  for (const box of document.querySelectorAll("input[data-single-keys]")) box.checked = state === "on";
};

apply(isStored ? root.dataset.singleKeys : local());

document.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || !box.form || !box.matches("[data-single-keys]")) return;
  const state = box.checked ? "on" : "off";
  apply(state);
  try {
    localStorage.setItem(KEY, state);
  } catch {
    // then it is kept for the person only
  }
  fetch(box.form.action, {
    method: "POST",
    body: new FormData(box.form),
    headers: { Accept: "application/json" },
  }).catch(
    () => {}, // offline: it lasts for this page, and on this device where nobody is signed in
  );
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.defaultPrevented || !areSingleKeysOn() || isDialogOpen()) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  document.querySelector("dialog#keyboard-sheet")?.showModal();
});
