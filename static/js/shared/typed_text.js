// What is typed into a form with `data-keep-typed` stays there while another form has the page around it redrawn.
// With a person as its value it also waits, in this tab, for that person to come back to the form from another page.

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

const CONTROLS = "textarea, select, input:not([type=hidden])";

/** @typedef {Pick<HTMLInputElement, "value" | "checked">} Typed */

const KEPT = "typed-text";

/** @type {Map<string, Typed>} by `place` */
let typed = new Map();

/** @param {Control} control */
const person = (control) => control.form?.dataset.keepTyped ?? "";

/**
 * Where a control is found again: whose it is, the address its form sends to, its name, and which of several radio
 * buttons it is.
 * @param {Control} control
 */
const place = (control) => {
  const which = control.type === "radio" ? control.value : "";
  return [person(control), control.form?.getAttribute("action"), control.name, which].join(" ");
};

/** @param {Element} around */
const controls = (around) =>
  [...around.querySelectorAll("form[data-keep-typed]")].flatMap((form) => [
    .../** @type {NodeListOf<Control>} */ (form.querySelectorAll(CONTROLS)),
  ]);

/** @param {Control} control */
const isChanged = (control) => {
  if (control instanceof HTMLSelectElement)
    return [...control.options].some((option) => option.selected !== option.defaultSelected);
  if (control instanceof HTMLInputElement && control.type === "radio")
    return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
};

/**
 * What is typed in these controls and not sent.
 * @param {Control[]} some
 * @returns {Map<string, Typed>}
 */
const unsent = (some) =>
  new Map(
    some.filter(isChanged).map((control) => {
      const checked = control instanceof HTMLInputElement && control.checked;
      return [place(control), { value: control.value, checked }];
    }),
  );

/** @param {Map<string, Typed>} before */
const putBack = (before) => {
  for (const control of before.size ? controls(document.body) : []) {
    const was = before.get(place(control));
    if (!was) continue;
    if (control instanceof HTMLInputElement && control.type === "radio") control.checked = was.checked;
    else control.value = was.value;
    const folded = control.closest("details");
    if (folded) folded.open = true;
  }
};

document.addEventListener("htmx:beforeSwap", (event) => {
  const sent = event.detail.requestConfig.elt.closest("form");
  typed = unsent(controls(event.detail.target).filter((control) => control.form !== sent));
});

document.addEventListener("htmx:afterSwap", () => {
  putBack(typed);
  typed.clear();
});

// ── From page to page ──────────────────────────────────────────────────────────────────────────────

/** @returns {Map<string, Typed>} */
const kept = () => {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
  } catch {
    return new Map(); // without a storage, or with another's words in it, nothing waits
  }
};

/** Before the page, or what is in it, gives way to another. */
export const keepTyped = () => {
  const waiting = kept();
  const here = controls(document.body).filter(person);
  for (const control of here) waiting.delete(place(control));
  for (const [where, what] of unsent(here)) waiting.set(where, what);
  try {
    sessionStorage.setItem(KEPT, JSON.stringify([...waiting]));
  } catch {
    // then it is lost with the page, as it would be without this
  }
};

window.addEventListener("pagehide", keepTyped);
document.addEventListener("review:ready", () => putBack(kept())); // another item is in the place of the one before
putBack(kept());
