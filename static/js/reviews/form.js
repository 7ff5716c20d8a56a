// What the modules of the review page ask of its form.

export const form = () => document.getElementById("review-form");

export const reasonOf = (article) => article.querySelector("textarea");

/** The chosen label of a criterion, "" while there is none. */
export const verdictOf = (article) => article.querySelector('input[type="radio"]:checked')?.value ?? "";

/** Whether the chosen label needs a reason, as the rubric says. */
export const requiresReason = (article) =>
  JSON.parse(article.dataset.withReason || "[]").includes(verdictOf(article));

export const lacksReason = (article) => requiresReason(article) && !reasonOf(article).value.trim();

/** On narrow screens one pane shows at a time: "main" is the item, "side" its criteria. */
export const showPane = (name) => {
  const choice = document.querySelector(`.panes__switch [value="${name}"]`);
  if (choice) choice.checked = true;
};

export const textNodes = (region) => {
  const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
};
