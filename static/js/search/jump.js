// The palette: Ctrl+K opens it anywhere, the arrows walk what was found, Enter opens it. Without this script the
// looking glass of the top bar is a link to the page of the same search.

const dialog = () => document.querySelector("dialog#jump");
const options = () => [...document.querySelectorAll('#jump-found a[role="option"]')];

/** @type {(option: HTMLElement | undefined) => void} */
const choose = (option) => {
  for (const each of options()) each.setAttribute("aria-selected", String(each === option));
  const input = document.querySelector("input.jump__input");
  if (option) input?.setAttribute("aria-activedescendant", option.id);
  else input?.removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
};

const chosen = () => options().find((each) => each.getAttribute("aria-selected") === "true");

const show = () => {
  const palette = dialog();
  if (!palette || palette.open) return;
  palette.showModal();
  const input = palette.querySelector("input.jump__input");
  input?.focus();
  input?.select();
  // What was changed last, as it is now.
  input?.dispatchEvent(new CustomEvent("jump:open"));
};

document.addEventListener("keydown", (event) => {
  const isCtrlK = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k";
  if (isCtrlK && dialog()) {
    event.preventDefault();
    if (dialog()?.open) dialog()?.close();
    else show();
    return;
  }
  if (!event.target.matches("input.jump__input") || event.isComposing) return;
  const rows = options();
  const at = rows.findIndex((each) => each.getAttribute("aria-selected") === "true");
  if (event.key === "ArrowDown") choose(rows[(at + 1) % rows.length]);
  else if (event.key === "ArrowUp") choose(rows[(Math.max(at, 0) + rows.length - 1) % rows.length]);
  else if (event.key === "Enter" && rows.length) chosen()?.click();
  else return;
  if (event.key !== "Enter" || chosen()) event.preventDefault();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("a[data-jump]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show();
});

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.requestConfig.elt.matches("input.jump__input")) choose(options()[0]);
});
