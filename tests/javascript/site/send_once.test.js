// A second click on a slow line does not send a form again; and a form that stays on its page is not left dead.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { happens, openPage } from "../page.js";

mock.timers.enable({ apis: ["setTimeout"] });
openPage();
globalThis.HTMLFormElement = class {};
globalThis.navigation = new EventTarget();
await import("../../../static/js/site/send_once.js");

class Button {
  constructor(attributes = {}) {
    this.attributes = attributes;
  }
  closest() {
    return this;
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  removeAttribute(name) {
    delete this.attributes[name];
  }
}

class Form extends HTMLFormElement {
  constructor(attributes = {}) {
    super();
    this.attributes = { method: "post", ...attributes };
    this.button = new Button();
  }
  getAttribute(name) {
    return this.attributes[name] ?? null;
  }
  matches(selector) {
    return selector === '[method="post"]' && this.attributes.method === "post";
  }
  querySelector() {
    return this.button;
  }
}

/** Whether the browser sends the form; `submitter` is the button that was pressed, null for a key. */
const sends = (form, submitter = form.button) => !happens("submit", { target: form, submitter });
const isBusy = (form) => form.button.attributes["aria-busy"] === "true";

/** @type {Form} */
let form;
beforeEach(() => {
  form = new Form();
});

test("it is sent once, by the button that was pressed, which stays enabled", () => {
  const pressed = new Button({ name: "action", value: "import" });

  assert.equal(sends(form, pressed), true);
  assert.equal(sends(form, pressed), false);
  assert.equal(sends(form), false); // by no other button either
  assert.deepEqual(pressed.attributes, { name: "action", value: "import", "aria-busy": "true" });
  assert.equal(isBusy(form), false);
});

test("sent by a key it shows so at the button it would be sent with", () => {
  assert.equal(sends(form, null), true);
  assert.equal(isBusy(form), true);
  assert.equal(sends(form, null), false);
});

test("another form is sent meanwhile", () => {
  sends(form);

  assert.equal(sends(new Form()), true);
});

test("the second submit is heard by nobody else", () => {
  let heard = 0;
  document.addEventListener("submit", () => {
    heard += 1;
  });
  sends(form);
  sends(form);

  assert.equal(heard, 1);
});

test("what a script refuses, or sends by itself, is not on its way", () => {
  const refuse = (event) => event.preventDefault();
  document.addEventListener("submit", refuse);
  assert.equal(sends(form), false);
  assert.equal(isBusy(form), false);
  document.removeEventListener("submit", refuse);

  assert.equal(sends(form), true);
});

test("what is asked for by address is asked for as often as one likes", () => {
  const search = new Form({ method: "get" });

  assert.deepEqual([sends(search), sends(search)], [true, true]);
});

for (const [name, elsewhere, button] of [
  ["a form that opens another tab", new Form({ target: "_blank" }), undefined],
  ["a button that opens another tab", new Form(), new Button({ formtarget: "_blank" })],
]) {
  test(`${name} is sent again from this one`, () => {
    assert.deepEqual([sends(elsewhere, button), sends(elsewhere, button)], [true, true]);
    assert.equal(isBusy(elsewhere), false);
  });
}

for (const key of ["ctrlKey", "metaKey", "shiftKey"]) {
  test(`a click with ${key} opens another tab or window, and one without sends it here`, () => {
    happens("click", { target: form.button, [key]: true });
    assert.equal(sends(form), true);
    happens("click", { target: form.button });
    assert.equal(sends(form), true);
    assert.equal(sends(form), false);
  });
}

test("back in the history it can be sent again", () => {
  sends(form);
  window.dispatchEvent(new Event("pageshow"));

  assert.equal(isBusy(form), false);
  assert.equal(sends(form), true);
});

test("stopped on its way it can be sent again", () => {
  sends(form);
  navigation.dispatchEvent(new Event("navigateerror"));

  assert.equal(isBusy(form), false);
  assert.equal(sends(form), true);
});

test("after a download, of which nothing is heard, it can be sent again in ten seconds", () => {
  sends(form);
  mock.timers.tick(9_999);
  assert.equal(sends(form), false);
  mock.timers.tick(1);

  assert.equal(isBusy(form), false);
  assert.equal(sends(form), true);
});

test("the ten seconds of a send that was stopped do not end those of the next", () => {
  sends(form);
  mock.timers.tick(6_000);
  navigation.dispatchEvent(new Event("navigateerror"));
  sends(form);
  mock.timers.tick(6_000);

  assert.equal(sends(form), false);
});

test("a form that htmx sent waits for the page that follows, not for a part of this one", () => {
  const answered = (to) => ({ target: form, detail: { xhr: { getResponseHeader: () => to } } });
  happens("htmx:beforeOnLoad", answered(null));
  assert.equal(sends(form), true);
  window.dispatchEvent(new Event("pageshow"));

  happens("htmx:beforeOnLoad", answered("/next/"));
  assert.equal(sends(form), false);
});
