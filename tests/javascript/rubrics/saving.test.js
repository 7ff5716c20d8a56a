// Leaving a rubric's form asks first while something in it is not stored, and only then.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { happens, openPage } from "../page.js";

const OFFLINE = '[data-save-words][data-state="offline"]';
const form = { matches: () => true, closest: () => form, hasAttribute: () => true };

/** A page as the server sent it; `state` is what it says of the draft. */
const openForm = async (state) => {
  const words = { dataset: { state }, text: "", replaceChildren: (text) => Object.assign(words, { text }) };
  openPage({ "[data-save-words]": words, ...(state === "offline" ? { [OFFLINE]: words } : {}) });
  await import(`../../../static/js/rubrics/saving.js?${state}`);
  return words;
};
const asks = () => happens("beforeunload");

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] }); // what is typed waits for the end of the test
});

test("a text that comes back refused is asked about, untouched", async () => {
  await openForm("offline");

  assert.equal(asks(), true);
});

test("a draft that is saved, though it cannot be published, is not asked about", async () => {
  const words = await openForm("saved");
  assert.equal(asks(), false);
  happens("input", { target: form });
  assert.equal(words.text, "Saving…");
  assert.equal(asks(), true);

  words.dataset.state = "saved"; // the answer to Publish… puts the form anew
  happens("htmx:afterSettle", { target: { id: "editor" } });
  assert.equal(asks(), false);
});
