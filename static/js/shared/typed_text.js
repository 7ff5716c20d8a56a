// What is typed into a form with `data-keep-typed` stays there while another form has the page around it redrawn.

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

const CONTROLS = "textarea, select, input:not([type=hidden])";

/** @type {Map<string, Pick<HTMLInputElement, "value" | "checked">>} */
let typed = new Map();

/**
 * Where a control is found again: the address its form sends to, its name, and which of several radio buttons it is.
 * @param {Control} control
 */
const place = (control) => {
  const which = control.type === "radio" ? control.value : "";
  return [control.form?.getAttribute("action"), control.name, which].join(" ");
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

document.addEventListener("htmx:beforeSwap", (event) => {
  const sent = event.detail.requestConfig.elt.closest("form");
  const others = controls(event.detail.target).filter((control) => control.form !== sent);
  typed = new Map(
    others.filter(isChanged).map((control) => {
      const checked = control instanceof HTMLInputElement && control.checked;
      return [place(control), { value: control.value, checked }];
    }),
  );
});

document.addEventListener("htmx:afterSwap", () => {
  for (const control of typed.size ? controls(document.body) : []) {
    const before = typed.get(place(control));
    if (!before) continue;
    if (control instanceof HTMLInputElement && control.type === "radio") control.checked = before.checked;
    else control.value = before.value;
    const folded = control.closest("details");
    if (folded) folded.open = true;
  }
  typed.clear();
});
