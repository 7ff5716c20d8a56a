// What is dropped on an upload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { happens, openPage } from "../page.js";

/** @type {object[]} */
const toasts = [];
openPage({ "#toasts": { append: (toast) => toasts.push(toast) }, "#toasts > .toast--error": toasts });
document.createElement = () => ({
  parts: [],
  append(...parts) {
    this.parts = parts;
  },
  querySelector(selector) {
    return this.parts.find((part) => `.${part.className}` === selector);
  },
  setAttribute() {},
  addEventListener() {},
});
await import("../../../static/js/site/dropzone.js");

test("several files for one are refused, which is said once while it stands there", () => {
  const input = { multiple: false, files: null, dispatchEvent: () => {} };
  const zone = { classList: { remove: () => {} }, querySelector: () => input };
  const drop = (...files) =>
    happens("drop", { target: { closest: () => zone }, dataTransfer: { types: ["Files"], files } });

  drop({ name: "a.csv" }, { name: "b.csv" });
  drop({ name: "a.csv" }, { name: "b.csv" });
  assert.equal(input.files, null);
  assert.deepEqual(
    toasts.map((toast) => toast.querySelector(".toast__text").textContent),
    ["One file at a time."],
  );

  drop({ name: "a.csv" });
  assert.deepEqual(input.files, [{ name: "a.csv" }]);
});
