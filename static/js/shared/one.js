// What a page always has.

/**
 * The first element that fits; an error names what the page lacks.
 * @template {string} Selector
 * @param {Selector} selector
 * @param {ParentNode} [root]
 */
export const one = (selector, root = document) => {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`The page has no ${selector}`);
  return found;
};
