// What is read out of a point: the times of named points are places, and no dates.

import assert from "node:assert/strict";
import { test } from "node:test";

import { pointWords } from "../../../static/js/dashboard/point_words.js";

test("a point of a version is called by it, any other by its time", () => {
  assert.equal(pointWords({ times: [0, 1], names: ["assistant@v3", "assistant@v4"] }, 1), "assistant@v4");
  assert.match(pointWords({ times: [Date.UTC(2026, 5, 15) / 1000], names: null }, 0), /2026/);
});
