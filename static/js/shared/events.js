// Telling the other modules of a page. Which events there are, and what they carry, stands in page_events.d.ts.

/**
 * @template {keyof PageEvents} Name
 * @param {Name} name
 * @param {PageEvents[Name]} [detail]
 * @returns {boolean} false where a listener prevented what would have come next
 */
export const tell = (name, detail) =>
  document.dispatchEvent(new CustomEvent(name, { detail, cancelable: true }));

/**
 * Calls `prepare` once the page is there, and again whenever htmx has put something into it.
 * @param {() => void} prepare
 */
export const onContent = (prepare) => {
  document.addEventListener("DOMContentLoaded", prepare);
  document.addEventListener("htmx:afterSettle", prepare);
};
