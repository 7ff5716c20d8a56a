// A form that leads to another page is sent once: on a slow line that page takes seconds, and a second click would do
// everything twice. What scripts send by themselves they have prevented before it comes here.

const MOST_MILLISECONDS = 10_000;

/** @typedef {{ button: HTMLElement | null, timer: ReturnType<typeof setTimeout> }} Sent */
/** @type {Map<HTMLFormElement, Sent>} */
const sent = new Map();

/** @param {HTMLFormElement} form */
const release = (form) => {
  clearTimeout(sent.get(form)?.timer);
  sent.get(form)?.button?.removeAttribute("aria-busy");
  sent.delete(form);
};

// It stays enabled: a button that is disabled by then is left out of what is sent.
/** @type {(form: HTMLFormElement, pressed?: HTMLElement | null) => void} */
const hold = (form, pressed) => {
  const button = pressed ?? form.querySelector('[type="submit"]');
  button?.setAttribute("aria-busy", "true");
  // Nothing says so when the answer is a download, or empty, and leaves the page as it is.
  sent.set(form, { button, timer: setTimeout(() => release(form), MOST_MILLISECONDS) });
};

// In the capture phase: nobody asks for a confirmation again.
document.addEventListener(
  "submit",
  (event) => {
    if (!sent.has(event.target)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);

/** @type {Element | null} */
let elsewhere = null; // the button that was clicked with a key that opens another tab or window
document.addEventListener("click", (event) => {
  elsewhere = event.ctrlKey || event.metaKey || event.shiftKey ? event.target.closest("button") : null;
});

// At the window, where all who may refuse it have been asked.
window.addEventListener("submit", (event) => {
  const [form, button] = [/** @type {HTMLFormElement} */ (event.target), event.submitter];
  const target = button?.getAttribute("formtarget") ?? form.getAttribute("target");
  const isHere = (!target || target === "_self") && !(button && button === elsewhere);
  if (!event.defaultPrevented && isHere && form.matches('[method="post"]')) hold(form, button);
});

// What htmx sent is followed by another page here.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { target } = event;
  if (target instanceof HTMLFormElement && event.detail.xhr.getResponseHeader("HX-Redirect")) hold(target);
});

const releaseAll = () => {
  for (const form of [...sent.keys()]) release(form);
};
// Back in the history the page returns as it was left; and the way to the next may be stopped.
window.addEventListener("pageshow", releaseAll);
globalThis.navigation?.addEventListener("navigateerror", releaseAll);
