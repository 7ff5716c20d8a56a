// The top bar's rooms, and menus there and elsewhere.

// A <details data-menu> closes on a click outside, on Escape, and when another opens. While it is open it stays so, with
// what is typed in it, when the part of the page around it is redrawn; so does a fold.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    const inside = menu.contains(event.target);
    const chose = inside && event.target.closest(".menu__item");
    if (!inside || chose) menu.open = false;
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) menu.querySelector("summary")?.focus();
  }
});

Idiomorph.defaults.callbacks.beforeAttributeUpdated = (attribute, element) => {
  if (
    attribute === "open" &&
    element.matches("details[data-menu], details[data-kept-open], details.chart__table")
  )
    return false;
  if (
    attribute === "value" &&
    element instanceof HTMLInputElement &&
    element.closest("details[data-menu][open]")
  ) {
    return element.value === element.defaultValue; // false where somebody has typed
  }
  return true;
};

// On a narrow screen the rooms of the top bar scroll: the one that is open is brought into view.
const here = document.querySelector(".topbar__link[aria-current]");
const list = here?.closest("ul");
if (here instanceof HTMLElement && list) {
  list.scrollLeft = here.offsetLeft - (list.clientWidth - here.offsetWidth) / 2;
}
