// What is typed is stored by itself, one request at a time and in order. The server and the clock are replaced.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Autosave, sendDraft } from "../../../static/js/rubrics/autosave.js";

const NOON = Date.UTC(2026, 2, 2, 12);

/** A form whose text a test changes, and a server that answers by `answer` and notes what arrived. */
const open = (begun) => {
  const page = {
    text: "",
    arrived: [],
    heard: [],
    isHeld: false,
    answer: () => ({ stored: { revision: 1, title: "" } }),
  };
  const autosave = new Autosave(
    {
      collect: () => new URLSearchParams({ text: page.text }),
      send: async (body) => {
        page.arrived.push(body.get("text"));
        return page.answer();
      },
      isHeld: () => page.isHeld,
      settled: (outcome) => page.heard.push(outcome),
    },
    begun,
  );
  const type = (text) => {
    page.text = text;
    autosave.touch();
  };
  return { page, autosave, type };
};

/** So many seconds pass, and whatever is ready by then is done. */
const pass = async (seconds) => {
  mock.timers.tick(1000 * seconds);
  await new Promise((resolve) => setImmediate(resolve));
};
/** An answer that comes when the test says so. */
const later = () => {
  let answer;
  const promise = new Promise((resolve) => {
    answer = resolve;
  });
  return { promise, answer };
};
const STORED = { stored: { revision: 1, title: "" } };

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: NOON });
});

test("it is sent two seconds after the last key, and once", async () => {
  const { page, autosave, type } = open();
  type("a");
  await pass(1.9);
  type("ab");
  await pass(1.9);
  assert.deepEqual(page.arrived, []);
  assert.equal(autosave.isUnsaved, true);
  await pass(0.1);
  assert.deepEqual(page.arrived, ["ab"]);
  assert.equal(autosave.isUnsaved, false);
  await pass(600);
  assert.deepEqual(page.arrived, ["ab"]);
});

test("who types without a pause is saved after fifteen seconds", async () => {
  const { page, type } = open();
  for (let second = 0; second < 16; second += 1) {
    type(`${second}`);
    await pass(1);
  }
  assert.deepEqual(page.arrived, ["14"]); // typed at second 14, sent at 15
});

test("what is typed while a request is on its way is sent after its answer", async () => {
  const { page, autosave, type } = open();
  const first = later();
  page.answer = () => first.promise;
  type("a");
  autosave.save();
  type("ab");
  await pass(60);
  autosave.save(); // the field is left
  assert.deepEqual(page.arrived, ["a"]);
  page.answer = () => STORED;
  first.answer(STORED);
  await pass(0);
  assert.deepEqual(page.arrived, ["a", "ab"]);
  assert.equal(autosave.isUnsaved, false);
});

test("a press waits for what is on its way, and is sent even if nothing was changed", async () => {
  const { page, autosave, type } = open();
  assert.deepEqual(await autosave.press(), STORED);
  assert.deepEqual(page.arrived, [""]);
  type("a");
  autosave.save();
  assert.deepEqual(await autosave.press(), STORED);
  assert.deepEqual(page.arrived, ["", "a"]);
});

test("what did not arrive is tried again with growing pauses, as it was before anything newer", async () => {
  const { page, autosave, type } = open();
  page.answer = () => ({ later: "offline" });
  type("a");
  await pass(2);
  type("ab"); // brings no attempt of its own
  for (const pause of [2, 5, 15, 30, 60, 60]) {
    const before = page.arrived.length;
    await pass(pause - 0.1);
    assert.equal(page.arrived.length, before);
    await pass(0.1);
    assert.equal(page.arrived.length, before + 1);
  }
  assert.equal(autosave.isUnsaved, true);
  page.answer = () => STORED;
  autosave.retry(); // back online
  await pass(0);
  assert.deepEqual([...new Set(page.arrived)], ["a", "ab"]);
  assert.equal(page.arrived.at(-2), "a");
  assert.equal(autosave.isUnsaved, false);

  page.answer = () => ({ later: "trouble" });
  type("abc");
  await pass(2);
  page.answer = () => STORED;
  await pass(2); // the pauses begin anew
  assert.equal(page.arrived.at(-1), "abc");
  assert.equal(autosave.isUnsaved, false);
});

test("what is refused waits until something is changed", async () => {
  const { page, autosave, type } = open();
  page.answer = () => ({ refused: "A rubric needs a title." });
  type("a");
  await pass(2);
  await pass(600);
  await autosave.save();
  assert.deepEqual(page.arrived, ["a"]);
  assert.equal(autosave.isUnsaved, true);
  page.answer = () => STORED;
  type("ab");
  await pass(2);
  assert.deepEqual(page.arrived, ["a", "ab"]);
  assert.equal(autosave.isUnsaved, false);
});

test("what a page brings back refused is unsaved, and not sent unchanged", async () => {
  const { page, autosave } = open({ isRefused: true });
  await pass(600);
  assert.deepEqual(page.arrived, []);
  assert.equal(autosave.isUnsaved, true);
});

test("nothing is sent while the page holds it; what the page has stored is not sent again", async () => {
  const { page, autosave, type } = open();
  type("a");
  page.isHeld = true;
  await pass(600);
  assert.deepEqual(await autosave.press(), {});
  const { edits } = autosave;
  type("ab"); // while the form is submitted
  page.isHeld = false;
  autosave.storedElsewhere(edits);
  assert.equal(autosave.isUnsaved, true);
  await pass(2);
  assert.deepEqual(page.arrived, ["ab"]);
  type("abc");
  autosave.storedElsewhere();
  await pass(600);
  assert.deepEqual(page.arrived, ["ab"]);
});

// ── The request ──────────────────────────────────────────────────────────────────────────────────

/** What becomes of a draft of so many characters when the server answers so; `null` is no network. */
const send = async (answer, characters = 1) => {
  let options;
  globalThis.document = { cookie: "csrftoken=newest", querySelector: () => null };
  globalThis.fetch = async (_url, given) => {
    options = given;
    if (answer === null) throw new TypeError("no network");
    const { status = 200, type = "basic", said } = answer;
    const json = async () => {
      if (said === undefined) throw new SyntaxError("no JSON");
      return said;
    };
    return { ok: status > 0 && status < 400, status, type, json };
  };
  const outcome = await sendDraft("/edit/", new URLSearchParams({ text: "a".repeat(characters) }));
  return { outcome, options };
};
const becomes = async (answer) => (await send(answer)).outcome;

test("an answer means stored, refused or later", async () => {
  const draft = { revision: 4, title: "T" };
  assert.deepEqual(await becomes({ said: draft }), { stored: draft });
  assert.deepEqual(await becomes(null), { later: "offline" });
  assert.deepEqual(await becomes({ status: 500 }), { later: "trouble" });
  assert.deepEqual(await becomes({ status: 429 }), { later: "trouble" });
  assert.deepEqual(await becomes({ status: 200 }), { later: "trouble" }); // a network's own page
  assert.deepEqual(await becomes({ status: 0, type: "opaqueredirect" }), { later: "signed out" });
  assert.deepEqual(await becomes({ status: 403 }), { later: "signed out" }); // the token is outdated
  const role = "You may not do this.";
  assert.equal((await becomes({ status: 403, said: { message: role } })).refused, role);
  assert.deepEqual(await becomes({ status: 409, said: { message: "Theirs.", notice: "<p>" } }), {
    refused: "Theirs.",
    notice: "<p>",
  });
  assert.equal((await becomes({ status: 413 })).refused, "The server refused it (error 413).");
});

test("a small draft may outlive its page, a large one would be refused by the browser", async () => {
  assert.equal((await send({ said: {} }, 1_000)).options.keepalive, true);
  assert.equal((await send({ said: {} }, 70_000)).options.keepalive, false);
});
