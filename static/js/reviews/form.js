// What the modules of the review page ask of its form.

import { one } from "../shared/one.js";

export const form = () => document.querySelector("form#review-form");

/**
 * Its form, where the page has one for sure.
 */
export const theForm = () => one("form#review-form");

/** @param {HTMLElement} article */
export const reasonOf = (article) => one("textarea", article);

/**
 * The chosen label of a criterion, "" while there is none.
 * @param {HTMLElement} article
 */
export const verdictOf = (article) => article.querySelector('input[type="radio"]:checked')?.value ?? "";

/**
 * Whether the chosen label needs a reason, as the rubric says.
 * @param {HTMLElement} article
 * @returns {boolean}
 */
export const requiresReason = (article) =>
  JSON.parse(article.dataset.withReason || "[]").includes(verdictOf(article));

/** @param {HTMLElement} article */
export const lacksReason = (article) => requiresReason(article) && !reasonOf(article).value.trim();

/**
 * On narrow screens one pane shows at a time: "main" is the item, "side" its criteria.
 * @param {"main" | "side"} name
 */
export const showPane = (name) => {
  const choice = document.querySelector(`.panes__switch [value="${name}"]`);
  if (choice instanceof HTMLInputElement) choice.checked = true;
};

/** @param {Node} region */
export const textNodes = (region) => {
  const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) nodes.push(/** @type {Text} */ (walker.currentNode));
  return nodes;
};
