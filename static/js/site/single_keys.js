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

const apply = (state) => {
  root.dataset.singleKeys = state;
  for (const box of document.querySelectorAll("[data-single-keys]:is(input)")) box.checked = state === "on";
};

apply(isStored ? root.dataset.singleKeys : local());

document.addEventListener("change", (event) => {
  if (!event.target.matches("input[data-single-keys]")) return;
  const state = event.target.checked ? "on" : "off";
  apply(state);
  try {
    localStorage.setItem(KEY, state);
  } catch {
    // then it is kept for the person only
  }
  const form = event.target.form;
  fetch(form.action, {
    method: "POST",
    body: new FormData(form),
    headers: { Accept: "application/json" },
  }).catch(
    () => {}, // offline: it lasts for this page, and on this device where nobody is signed in
  );
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "?" || event.defaultPrevented || !areSingleKeysOn() || isDialogOpen()) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  document.getElementById("keyboard-sheet")?.showModal();
});
