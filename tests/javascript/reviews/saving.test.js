// What the page says of a submit that did not arrive, or cannot go yet, is what keeps it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { happens, openPage } from "../page.js";

const box = {
  replaceChildren: (words) => {
    box.said = words.textContent;
  },
};
const form = {
  id: "review-form",
  dataset: { person: "rae", review: "7", heartbeat: "/here/" },
  querySelector: () => null,
  querySelectorAll: () => [],
  getAttribute: () => "/submit/",
};
const submitter = { getAttribute: () => "submit", setAttribute: () => {} };
openPage({ "form#review-form": form, "#review-problem": box });
Object.assign(document, {
  cookie: "",
  createElement: () => ({ append: () => {}, addEventListener: () => {} }),
});
globalThis.location = { pathname: "/reviews/7/" };
globalThis.FormData = new Proxy(FormData, { construct: (Fields) => new Fields() }); // of a form that is none
await import("../../../static/js/reviews/saving.js");
happens("review:ready");

for (const [status, said] of [
  [503, /^The server could not take it yet/],
  [403, /^You are signed out/],
  [0, /^No connection/],
]) {
  test(`a submit that meets ${status || "no network"} says so`, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    globalThis.fetch = async () => {
      if (!status) throw new TypeError("no network");
      return { ok: false, status, type: "basic", json: async () => ({}) };
    };
    happens("submit", { target: form, submitter });
    await new Promise(setImmediate);
    assert.match(box.said, said);
  });
}

test("a submit waits until somebody has chosen between the answers of two tabs", async (t) => {
  const fetched = t.mock.fn(async () => {
    throw new TypeError("no network");
  });
  globalThis.fetch = fetched;
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const change = (verdict) =>
    happens("review:change", {
      detail: { name: "criterion:1", url: "/criteria/1/", fields: { verdict, reason: "", known: [""] } },
    });
  change("UNMET");
  change("MET"); // of a page that does not know the other one
  await new Promise(setImmediate);
  const before = fetched.mock.callCount();
  box.said = "";
  happens("submit", { target: form, submitter });
  await new Promise(setImmediate);
  assert.equal(box.said, "It was answered in another tab meanwhile.");
  assert.equal(fetched.mock.callCount(), before);
});
