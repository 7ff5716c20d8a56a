// Words at the rules of a chart: none covers another, whatever their number.

import assert from "node:assert/strict";
import { test } from "node:test";

import { placeLabels } from "../../../static/js/dashboard/rule_labels.js";

// Every letter is 10 wide.
const room = { right: 300, longest: 100, rows: 2, widthOf: (text) => text.length * 10 };

test("words that would meet go to the next row, and without room in any row to none", () => {
  const labels = [0, 20, 40, 120].map((x) => ({ x, text: "ten letter" }));
  // The first ends at 100, the second, a row lower, at 120: at 40 no row is free, at 120 the first is.
  assert.deepEqual(placeLabels(labels, room), [
    { row: 0, text: "ten letter" },
    { row: 1, text: "ten letter" },
    null,
    { row: 0, text: "ten letter" },
  ]);
});

test("words are cut at their greatest length and at the edge, and left out where hardly a letter is left", () => {
  const labels = [0, 230, 260].map((x) => ({ x, text: "a judge of many words" }));
  assert.deepEqual(placeLabels(labels, room), [
    { row: 0, text: "a judge o…" },
    { row: 0, text: "a judg…" },
    null,
  ]);
});
