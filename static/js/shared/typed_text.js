// What is typed into a form with `data-keep-typed` stays there while another form has the page around it redrawn.
// With a person as its value it also waits, in this tab, for that person to come back to the form from another page.

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

const CONTROLS = "textarea, select, input:not([type=hidden])";

/**
 * `sent` are the words its form was sending at that moment, and `there` says how often they were stored already.
 * @typedef {Pick<HTMLInputElement, "value" | "checked"> & { sent?: string, there?: number }} Typed
 */

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
export const isChanged = (control) => {
  if (control instanceof HTMLSelectElement) {
    // Where the page marks none, the first one is chosen.
    const first = [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
    return control.value !== first?.value;
  }
  if (control instanceof HTMLInputElement && control.type === "radio")
    return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
};

/**
 * How often the page has these words as stored ones, in the forms that edit them.
 * @param {string} words
 */
const stored = (words) =>
  controls(document.body).filter(
    (control) =>
      control instanceof HTMLTextAreaElement && !person(control) && control.defaultValue.trim() === words,
  ).length;

/**
 * Whether the server has what was being sent. The page that is left is not told, and to leave the words out would
 * lose them with a request that fails. The page that is opened shows: there they are once more than before.
 * @param {Typed} was
 */
const hasArrived = ({ sent, there = 0 }) => sent !== undefined && stored(sent) > there;

/**
 * The words of its form while that is being sent.
 * @param {Control} control
 */
const onItsWay = ({ form }) => {
  if (!form?.classList.contains("htmx-request")) return {};
  const sent = form.querySelector("textarea")?.value.trim() ?? "";
  return { sent, there: stored(sent) };
};

/**
 * What is typed in these controls and not known to be sent.
 * @param {Control[]} some
 * @returns {Map<string, Typed>}
 */
const unsent = (some) =>
  new Map(
    some.filter(isChanged).map((control) => {
      const checked = control instanceof HTMLInputElement && control.checked;
      return [place(control), { value: control.value, checked, ...onItsWay(control) }];
    }),
  );

/**
 * Whether anything is typed in its form.
 * @param {Control} control
 */
const isBegun = ({ form }) =>
  [.../** @type {Iterable<Control>} */ (form?.querySelectorAll(CONTROLS) ?? [])].some(isChanged);

/**
 * An option may be gone by now: then the choice stays what the page says, instead of none at all.
 * @type {(control: Control, value: string) => boolean}
 */
const takes = (control, value) =>
  !(control instanceof HTMLSelectElement) || [...control.options].some((option) => option.value === value);

/** @param {Map<string, Typed>} before */
const putBack = (before) => {
  for (const control of before.size ? controls(document.body) : []) {
    const was = before.get(place(control));
    if (!was || hasArrived(was)) continue;
    if (control instanceof HTMLInputElement && control.type === "radio") control.checked = was.checked;
    else if (takes(control, was.value)) control.value = was.value;
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
  for (const control of here) {
    const was = waiting.get(place(control));
    // A choice this page does not offer waits on with the words it belongs to.
    if (was && !takes(control, was.value) && isBegun(control))
      waiting.set(place(control), { value: was.value, checked: false, ...onItsWay(control) });
    else waiting.delete(place(control));
  }
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
