// A <form data-filter-form> submits itself: at once for choices, after a pause while typing.

const PAUSE_MILLISECONDS = 350;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {Field} element */
const filterForm = (element) => (element.form?.matches("[data-filter-form]") ? element.form : null);

/** @param {HTMLFormElement} form */
const submit = (form) => {
  clearTimeout(timer);
  if (form.isConnected) form.requestSubmit();
};

document.addEventListener("change", (event) => {
  const form = filterForm(event.target);
  if (form && !isTyped(event.target)) submit(form);
});

document.addEventListener("input", (event) => {
  const form = filterForm(event.target);
  // A full page load would take the caret away, so typing waits for Enter unless htmx swaps only the list.
  if (!form || !isTyped(event.target) || !form.hasAttribute("hx-get")) return;
  clearTimeout(timer);
  timer = setTimeout(() => submit(form), PAUSE_MILLISECONDS);
});

// Empty filters stay out of the address.
document.addEventListener("formdata", (event) => {
  if (!event.target.matches("[data-filter-form]")) return;
  for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
});

/** @param {Field} element */
const isTyped = (element) =>
  element.matches('textarea, input:is([type="search"], [type="text"], [type="number"], :not([type]))');
