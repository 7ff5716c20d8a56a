// A link with data-key-link="n" is followed when that key is pressed alone, unless single keys are off.

import { areSingleKeysOn, hasModifier, isDialogOpen } from "../shared/keys.js";

document.addEventListener("keydown", (event) => {
  if (hasModifier(event) || event.defaultPrevented || !areSingleKeysOn() || isDialogOpen()) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const link = [...document.querySelectorAll("[data-key-link]")].find(
    (each) => each.dataset.keyLink === event.key,
  );
  link?.click();
});
