// A key that is held down is one answer, not one for each time it repeats.

import assert from "node:assert/strict";
import { test } from "node:test";
import { happens, openPage } from "../page.js";

const clicks = { submit: 0, keepAll: 0 };
openPage({
  "[data-review-submit]": { click: () => (clicks.submit += 1) },
  '.revise__all [data-reveal-key~="a"]': { click: () => (clicks.keepAll += 1) },
});
await import("../../../static/js/reviews/keys.js");
await import("../../../static/js/reviews/reveal.js");

/** Gives whether the page took each press of the key, which is held for three. */
const hold = (key, more) => [false, true, true].map((repeat) => happens("keydown", { key, repeat, ...more }));

test("a held key answers, submits and keeps once, while j goes on", () => {
  /** @type {string[]} */
  const heard = [];
  document.addEventListener("review:key", (event) => heard.push(event.detail.key));

  hold("m");
  hold("j");
  hold("a");
  const taken = hold("Enter", { ctrlKey: true });

  assert.deepEqual(heard, ["m", "j", "j", "j"]);
  assert.deepEqual(clicks, { submit: 1, keepAll: 1 });
  assert.deepEqual(taken, [true, true, true]); // nor does it write new lines
});
