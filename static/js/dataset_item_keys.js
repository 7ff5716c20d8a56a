// A link with data-key-link="n" is followed when that key is pressed alone, unless single keys are off.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (document.documentElement.dataset.singleKeys === "off" || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const link = [...document.querySelectorAll("[data-key-link]")].find((each) => each.dataset.keyLink === event.key);
  link?.click();
});
