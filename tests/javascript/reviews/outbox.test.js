// What is answered is kept on the device until the server has it. The browser's storage and the server are replaced;
// a reload is a new outbox over the same storage, a second tab another one beside it.

import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { inWords, Outbox, SUBMIT } from "../../../static/js/reviews/outbox.js";

const NOON = Date.UTC(2026, 2, 2, 12);
const DAY = 86_400_000;

/** A storage whose keys are its own, as in a browser. */
class Storage {
  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }
  setItem(key, value) {
    this[key] = String(value);
  }
  removeItem(key) {
    delete this[key];
  }
}

/** A server that answers by `server.answer` and notes what arrived; `null` is no network. */
const server = { received: [], answer: () => reply(200) };
const reply = (status, said = {}) => ({
  ok: status < 400,
  status,
  type: "basic",
  json: async () => said,
});

/** A tab: an outbox of rae's, and what it told its page. */
const openTab = (person = "rae") => {
  const told = { waits: [], settled: [], done: 0 };
  const outbox = new Outbox({
    sending: () => {},
    waits: (why, count) => told.waits.push([why, count]),
    settled: (_key, name, _entry, outcome) => told.settled.push([name, outcome]),
    done: () => {
      told.done += 1;
    },
  });
  outbox.person = person;
  return { outbox, told };
};

const REVIEW = Outbox.key("rae", "7");
const answer = (outbox, criterion, verdict, key = REVIEW) =>
  outbox.keep(key, `criterion:${criterion}`, { url: `/answers/${criterion}/`, fields: { verdict } });
const submit = (outbox, key = REVIEW) =>
  outbox.keep(key, SUBMIT, { url: "/submit/", fields: { action: "submit" } });

const offline = () => {
  throw new TypeError("no network");
};
const sent = () => server.received.map(({ url, fields }) => [url, fields.verdict ?? fields.action]);

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: NOON });
  server.received = [];
  server.answer = () => reply(200);
  globalThis.localStorage = new Storage();
  globalThis.document = { cookie: "csrftoken=newest", querySelector: () => null };
  globalThis.fetch = async (url, { body, headers }) => {
    const answered = server.answer(url);
    server.received.push({ url, fields: Object.fromEntries(body), headers });
    return answered;
  };
});

test("an answer given offline is kept and the page hears how many wait", async () => {
  const { outbox, told } = openTab();
  server.answer = offline;
  answer(outbox, 1, "MET");
  answer(outbox, 2, "UNMET");
  await outbox.flush();

  assert.deepEqual(told, { waits: [["Offline", 2]], settled: [], done: 0 });
  assert.equal(outbox.isAnythingWaiting(), true);
  assert.equal(outbox.wouldLose(), false); // the device keeps it
});

test("what waited is sent in the order it was given, the submit's review after older ones", async () => {
  const { outbox, told } = openTab();
  const other = Outbox.key("rae", "8");
  server.answer = offline;
  answer(outbox, 2, "MET");
  answer(outbox, 1, "UNMET");
  mock.timers.tick(1);
  submit(outbox, other);
  await outbox.flush();
  server.answer = () => reply(200, { location: "/next/" });
  await outbox.flushAnew();

  assert.deepEqual(sent(), [
    ["/answers/2/", "MET"],
    ["/answers/1/", "UNMET"],
    ["/submit/", "submit"],
  ]);
  assert.equal(told.done, 1);
  assert.deepEqual(outbox.keys(), []);
});

test("of one criterion only the newest answer is sent", async () => {
  const { outbox } = openTab();
  answer(outbox, 1, "MET");
  answer(outbox, 2, "MET");
  answer(outbox, 1, "UNMET");
  await outbox.flush();

  assert.deepEqual(sent(), [
    ["/answers/2/", "MET"],
    ["/answers/1/", "UNMET"],
  ]);
});

test("an answer that changes while it is on its way is sent again", async () => {
  const { outbox } = openTab();
  answer(outbox, 1, "MET");
  server.answer = () => {
    server.answer = () => reply(200);
    answer(outbox, 1, "UNMET");
    return reply(200);
  };
  await outbox.flush();

  assert.deepEqual(sent(), [
    ["/answers/1/", "MET"],
    ["/answers/1/", "UNMET"],
  ]);
  assert.equal(outbox.isAnythingWaiting(), false);
});

test("a conflict goes to the page with what is stored, stays on the device and is not sent again", async () => {
  const { outbox, told } = openTab();
  const stored = { verdict: "UNMET", reason: "no unit" };
  server.answer = () => reply(409, { message: "Someone answered first.", stored });
  answer(outbox, 1, "MET");
  await outbox.flush();
  await outbox.flushAnew();

  const refused = { status: 409, message: "Someone answered first.", stored };
  assert.deepEqual(told.settled, [["criterion:1", { refused }]]);
  assert.equal(server.received.length, 1);
  assert.deepEqual(outbox.read(REVIEW)["criterion:1"].fields, { verdict: "MET" });
  assert.deepEqual(outbox.read(REVIEW)["criterion:1"].refused, refused);
});

test("a conflict of one criterion does not hold up the others", async () => {
  const { outbox } = openTab();
  server.answer = (url) => (url === "/answers/1/" ? reply(409, { message: "Taken." }) : reply(200));
  answer(outbox, 1, "MET");
  answer(outbox, 2, "MET");
  await outbox.flush();

  assert.deepEqual(Object.keys(outbox.read(REVIEW)), ["criterion:1"]);
});

test("what was answered before a reload is sent after it", async () => {
  const before = openTab();
  server.answer = offline;
  answer(before.outbox, 1, "MET");
  await before.outbox.flush();

  const after = openTab();
  server.answer = () => reply(200);
  await after.outbox.flush();
  assert.deepEqual(sent(), [["/answers/1/", "MET"]]);
  assert.deepEqual(Object.keys(localStorage), []);
});

test("what somebody else answered on this device is not sent in their name", async () => {
  const rae = openTab("rae");
  answer(rae.outbox, 1, "MET");
  const ann = openTab("ann");
  await ann.outbox.flush();

  assert.deepEqual(sent(), []);
  assert.equal(rae.outbox.isAnythingWaiting(), true);
});

test("of two tabs the newer answer wins, and neither sends it twice", async () => {
  const [one, other] = [openTab(), openTab()];
  answer(one.outbox, 1, "MET");
  mock.timers.tick(1);
  answer(other.outbox, 1, "UNMET");
  await one.outbox.flush();
  await other.outbox.flush();

  assert.deepEqual(sent(), [["/answers/1/", "UNMET"]]);
});

test("an answer that waits from another tab is asked about before one of a page that does not know it", async () => {
  const [one, other] = [openTab(), openTab()];
  const seen = '{"reason": "", "evidence": [], "verdict": ""}'; // as the server writes it
  const keep = ({ outbox }, verdict, reason, known) => {
    const fields = { verdict, reason, evidence: "[]", known };
    outbox.keep(REVIEW, "criterion:1", { url: "/answers/1/", fields });
    return outbox.read(REVIEW)["criterion:1"];
  };
  keep(one, "UNMET", "No unit.", [seen]);
  keep(one, "UNMET", "No unit at all.", [seen, inWords({ verdict: "UNMET", reason: "No unit." })]);
  const asked = keep(other, "MET", "", [seen]);
  const stored = { verdict: "UNMET", reason: "No unit at all.", evidence: [] };
  assert.deepEqual([asked.fields.verdict, asked.refused.stored, asked.refused.waits], ["MET", stored, true]);
  // Nor does it get lost where the choice is put off.
  const later = keep(other, "CANNOT_ASSESS", "", [seen, inWords({ verdict: "MET", reason: "" })]);
  assert.deepEqual(later.refused.stored, stored);
  await other.outbox.flush();
  assert.deepEqual(sent(), []);

  other.outbox.again(REVIEW, "criterion:1", () => {});
  await other.outbox.flush();
  assert.deepEqual(sent(), [["/answers/1/", "CANNOT_ASSESS"]]);
});

test("the same answer in two tabs asks nobody", () => {
  const [one, other] = [openTab(), openTab()];
  const fields = { verdict: "MET", reason: "", evidence: "[]", known: [""] };
  for (const { outbox } of [one, other]) outbox.keep(REVIEW, "criterion:1", { url: "/answers/1/", fields });
  assert.equal(one.outbox.read(REVIEW)["criterion:1"].refused, undefined);
});

test("an answer of another tab is not dropped when an older one of this tab arrives", async () => {
  const [one, other] = [openTab(), openTab()];
  answer(one.outbox, 1, "MET");
  server.answer = () => {
    server.answer = offline;
    mock.timers.tick(1);
    answer(other.outbox, 1, "UNMET");
    answer(other.outbox, 2, "MET");
    return reply(200);
  };
  await one.outbox.flush();

  const waiting = other.outbox.waiting(REVIEW).map(([name, entry]) => [name, entry.fields.verdict]);
  assert.deepEqual(waiting, [
    ["criterion:1", "UNMET"],
    ["criterion:2", "MET"],
  ]);
});

test("once a refused answer is sent again, what another tab hears of it before counts no more", async () => {
  const [one, other] = [openTab(), openTab()];
  const taken = reply(409, { message: "Taken." });
  answer(one.outbox, 1, "MET");
  let late = (_answer) => {};
  server.answer = () =>
    new Promise((resolve) => {
      late = resolve;
    });
  const heard = other.outbox.flush();
  server.answer = () => taken;
  await one.outbox.flush();

  mock.timers.tick(1);
  server.answer = offline;
  one.outbox.again(REVIEW, "criterion:1", (entry) => {
    entry.fields.verdict = "UNMET";
  });
  await one.outbox.flush();
  late(taken);
  await heard;

  const waiting = one.outbox.waiting(REVIEW).map(([name, entry]) => [name, entry.fields.verdict]);
  assert.deepEqual(waiting, [["criterion:1", "UNMET"]]);
});

test("a submit goes after all that waits, also what waits from another tab, and leaves nothing behind", async () => {
  const [one, other] = [openTab(), openTab()];
  answer(other.outbox, 1, "UNMET");
  one.outbox.keep(REVIEW, "flag", { url: "/flag/", fields: { flagged: "1" } });
  submit(one.outbox);
  await one.outbox.flush();

  assert.deepEqual(sent(), [
    ["/answers/1/", "UNMET"],
    ["/flag/", undefined],
    ["/submit/", "submit"],
  ]);
  assert.deepEqual(one.outbox.read(REVIEW), {});
});

test("a server that is away is asked again after 2, 5, 15 and 30 seconds, at once when the network is back", async () => {
  const { outbox } = openTab();
  let attempts = 0;
  server.answer = () => {
    attempts += 1;
    return offline();
  };
  answer(outbox, 1, "MET");
  await outbox.flush();
  for (const [seconds, expected] of [
    [2, 2],
    [5, 3],
    [15, 4],
    [30, 5],
    [30, 6],
  ]) {
    mock.timers.tick(1000 * seconds - 1);
    assert.equal(attempts, expected - 1);
    mock.timers.tick(1);
    await outbox.flush(); // the attempt that has just begun
    assert.equal(attempts, expected);
  }
  await outbox.flushAnew();
  mock.timers.tick(2000);
  assert.equal(attempts, 8);
});

for (const [said, answered] of [
  ["Server busy", () => reply(503)],
  ["Server busy", () => reply(429)],
  ["Signed out", () => reply(403)],
  ["Signed out", () => ({ ...reply(200), ok: false, status: 0, type: "opaqueredirect" })],
]) {
  test(`what meets ${answered().type} ${answered().status} waits: ${said}`, async () => {
    const { outbox, told } = openTab();
    server.answer = answered;
    answer(outbox, 1, "MET");
    await outbox.flush();

    assert.deepEqual(told.waits, [[said, 1]]);
    assert.equal(outbox.isAnythingWaiting(), true);
  });
}

test("a refusal that says nothing is put in words", async () => {
  const { outbox, told } = openTab();
  server.answer = () => reply(400);
  answer(outbox, 1, "MET");
  await outbox.flush();

  const refused = { status: 400, message: "The server refused it (error 400)." };
  assert.deepEqual(told.settled, [["criterion:1", { refused }]]);
});

test("where the browser keeps nothing the page does, and says what leaving it would lose", async () => {
  const { outbox } = openTab();
  Storage.prototype.setItem = mock.fn(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  try {
    server.answer = offline;
    answer(outbox, 1, "MET");
    await outbox.flush();
    assert.equal(outbox.wouldLose(), true);

    server.answer = () => reply(200);
    await outbox.flushAnew();
    assert.deepEqual(sent(), [["/answers/1/", "MET"]]);
    assert.equal(outbox.wouldLose(), false);
  } finally {
    Storage.prototype.setItem = function (key, value) {
      this[key] = String(value);
    };
  }
});

test("once the storage is full the newest answer is sent, not the one it still holds", async () => {
  const { outbox } = openTab();
  server.answer = offline;
  answer(outbox, 1, "MET");
  await outbox.flush();
  const setItem = Storage.prototype.setItem;
  Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError");
  };
  try {
    answer(outbox, 1, "UNMET");
    assert.equal(outbox.wouldLose(), true);
    server.answer = () => reply(200);
    await outbox.flushAnew();
  } finally {
    Storage.prototype.setItem = setItem;
  }
  assert.deepEqual(sent(), [["/answers/1/", "UNMET"]]);
  assert.deepEqual([outbox.keys(), outbox.wouldLose()], [[], false]);
});

for (const [what, count] of [
  ["one of long reasons", 12],
  ["one of very many fields", 500],
]) {
  test(`a submit larger than what may outlive its page arrives: ${what}`, async () => {
    const { outbox, told } = openTab();
    const arrived = [];
    globalThis.fetch = async (url, { body, keepalive }) => {
      const request = new Request("http://here/", { method: "POST", body });
      // The Fetch standard: of requests that outlive their page no more than 64 KiB are under way.
      const tooLarge = (await request.arrayBuffer()).byteLength > 65_536;
      assert.equal(tooLarge, true);
      if (keepalive && tooLarge) throw new TypeError("Failed to fetch");
      arrived.push(url);
      return reply(200);
    };
    const reason = "ü".repeat(60_000 / count);
    const fields = Object.fromEntries([...Array(count).keys()].map((one) => [`reason_${one}`, reason]));
    outbox.keep(REVIEW, SUBMIT, { url: "/submit/", fields });
    await outbox.flush();

    assert.deepEqual([told.waits, told.done, arrived], [[], 1, ["/submit/"]]);
  });
}

test("what is kept here only is never sent", async () => {
  const { outbox } = openTab();
  outbox.keep(REVIEW, "reason:1", { url: null, fields: { reason: "half a" } });
  await outbox.flush();

  assert.deepEqual(sent(), []);
  assert.equal(outbox.read(REVIEW)["reason:1"].fields.reason, "half a");
});

test("after thirty days a change is forgotten", () => {
  const { outbox } = openTab();
  answer(outbox, 1, "MET");
  mock.timers.tick(30 * DAY);
  answer(outbox, 2, "MET");
  outbox.forgetOld();
  assert.deepEqual(Object.keys(outbox.read(REVIEW)), ["criterion:1", "criterion:2"]);
  mock.timers.tick(1000);
  outbox.forgetOld();
  assert.deepEqual(Object.keys(outbox.read(REVIEW)), ["criterion:2"]);
});

test("a list is sent as several values, under the newest token and not the page's", async () => {
  const { outbox } = openTab();
  globalThis.fetch = async (url, { body, headers }) => {
    server.received.push({ url, known: body.getAll("known"), token: headers["X-CSRFToken"], body });
    return reply(200);
  };
  const fields = { known: ["", "MET"], csrfmiddlewaretoken: "old" };
  outbox.keep(REVIEW, "criterion:1", { url: "/answers/1/", fields });
  await outbox.flush();

  const [{ known, token, body }] = server.received;
  assert.deepEqual([known, token, body.has("csrfmiddlewaretoken")], [["", "MET"], "newest", false]);
});
