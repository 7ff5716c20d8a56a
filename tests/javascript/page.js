// A page as far as scripts that listen at the document ask of it: the elements a test names, by their selector.

/**
 * Elements given as a list are what `querySelectorAll` finds, any other what `querySelector` does.
 * @param {Record<string, object | object[]>} elements
 */
export const openPage = (elements = {}) => {
  globalThis.HTMLElement = class {};
  globalThis.CSS = { escape: (text) => text };
  globalThis.window = new EventTarget();
  globalThis.document = Object.assign(new EventTarget(), {
    documentElement: { dataset: {} },
    querySelector: (selector) => elements[selector] ?? null,
    querySelectorAll: (selector) => elements[selector] ?? [],
    getElementById: (id) => elements[`#${id}`] ?? null,
  });
};

/**
 * Something happens to an element, and document and window hear of it; gives whether a listener prevented what comes
 * next.
 * @param {string} name
 * @param {object} [more] what the event carries; `target` is the element
 */
export const happens = (name, more = {}) => {
  const event = new Event(name, { cancelable: true });
  for (const [key, value] of Object.entries(more)) Object.defineProperty(event, key, { value });
  if (name !== "beforeunload") document.dispatchEvent(event);
  if (!event.cancelBubble) window.dispatchEvent(event);
  return event.defaultPrevented;
};
