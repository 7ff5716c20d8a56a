// Words are found whatever their case, at the place where they stand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openPage } from "../page.js";

/** @type {{ data: string }[]} */
const texts = [{ data: "İstanbul, then " }, { data: "Paris." }];
openPage({ "[data-field]": [{}] });
globalThis.NodeFilter = { SHOW_TEXT: 4 };
document.createTreeWalker = () => {
  let at = -1;
  return {
    nextNode: () => ++at < texts.length,
    get currentNode() {
      return texts[at];
    },
  };
};
document.createRange = () => ({
  setStart(node, place) {
    this.start = [node, place];
  },
  setEnd(node, place) {
    this.words = this.start[0] === node ? node.data.slice(this.start[1], place) : "";
  },
});
const { search } = await import("../../../static/js/reviews/find.js");

test("a letter whose lower case is longer keeps no word with a capital from being found", () => {
  const found = (words) => search(words).map((range) => range.words);

  assert.deepEqual(found("paris"), ["Paris"]);
  assert.deepEqual(found("İSTANBUL"), ["İstanbul"]);
});
