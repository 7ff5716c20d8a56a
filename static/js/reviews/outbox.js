// Changes of reviews on their way to the server, kept on this device until the server has them.
//
// Every change has a name in its review, and the newest of a name wins. What waits is sent one by one: the review
// that waits longest first, its changes in their order, and its submit last. What waits belongs to one person:
// nobody else who signs in here sends it. Knows nothing of the page: it tells a listener.

import { post } from "../shared/post.js";

const PREFIX = "rubricweb.review.";
const FORGET_AFTER_DAYS = 30;
const RETRY_SECONDS = [2, 5, 15, 30];

/** What may outlive its page; browsers refuse more than 64 KiB of that, as if there were no network. */
const KEEPALIVE_MAX_BYTES = 60_000;
const BYTES_AROUND_A_FIELD = 150;

/** The name of the change that submits a review. */
export const SUBMIT = "submit";

/** @typedef {{ saved?: { location?: string, differs?: [string, string] }, later?: string, refused?: Refusal }} Outcome */

/**
 * @typedef {object} Listener
 * @property {(key: string) => void} sending a change of this review is about to be sent
 * @property {(why: string, count: number) => void} waits nothing arrives now; so many changes are kept for later
 * @property {(key: string, name: string, entry: ReviewEntry, outcome: Outcome) => void} settled saved or refused
 * @property {() => void} done everything was sent, and saved or refused
 */

export class Outbox {
  /** @type {string | null} */
  person = null;
  /** @type {Map<string, Record<string, ReviewEntry>>} */
  #unstored = new Map(); // for browsers that keep nothing, or no more; newer than what they have kept
  /** @type {Promise<void> | null} */
  #flushing = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #failures = 0;
  #counter = 0;
  #listener;

  /** @param {Listener} listener */
  constructor(listener) {
    this.#listener = listener;
  }

  // ── What is kept on this device ──────────────────────────────────────────────────────────────────

  /**
   * Under which key a person's review is kept.
   * @type {(person: string, review: string) => string}
   */
  static key(person, review) {
    return `${PREFIX}${person}.${review}`;
  }

  /** The keys of all reviews of this person with something kept. */
  keys() {
    /** @type {string[]} */
    let stored = [];
    try {
      stored = Object.keys(localStorage);
    } catch {
      // then only what this page holds itself
    }
    return [...new Set([...this.#unstored.keys(), ...stored])].filter((key) =>
      key.startsWith(`${PREFIX}${this.person}.`),
    );
  }

  /**
   * @param {string} key
   * @returns {Record<string, ReviewEntry>} by the name of the change
   */
  read(key) {
    const unstored = this.#unstored.get(key);
    if (unstored) return unstored;
    try {
      return JSON.parse(localStorage.getItem(key) ?? "null") ?? {};
    } catch {
      return {};
    }
  }

  /**
   * @param {string} key
   * @param {(entries: Record<string, ReviewEntry>) => void} change
   */
  edit(key, change) {
    const entries = this.read(key);
    change(entries);
    const isEmpty = Object.keys(entries).length === 0;
    try {
      if (isEmpty) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries));
      this.#unstored.delete(key);
    } catch {
      if (isEmpty) this.#unstored.delete(key);
      else this.#unstored.set(key, entries);
    }
  }

  /**
   * Keeps a change; one without `url` is kept here only. An answer of another tab that still waits is not lost to one
   * from a page that does not know it: the change counts as refused until somebody has chosen.
   * @param {string} key
   * @param {string} name
   * @param {{ url: string | null, fields: ReviewFields, item?: string, page?: string }} change
   */
  keep(key, name, change) {
    this.edit(key, (entries) => {
      const refused = unknownTo(change.fields, entries[name]);
      entries[name] = { ...change, at: this.#newTime(), ...(refused && { refused }) };
    });
  }

  /**
   * Sends a refused change once more. Another tab may have sent it as well: what it hears now counts no more.
   * @param {string} key
   * @param {string} name
   * @param {(entry: ReviewEntry) => void} change
   */
  again(key, name, change) {
    this.edit(key, (entries) => {
      if (!entries[name]) return;
      delete entries[name].refused;
      entries[name].at = this.#newTime();
      change(entries[name]);
    });
    this.flush();
  }

  #newTime() {
    return `${Date.now()}.${String(this.#counter++ % 1000).padStart(3, "0")}`;
  }

  /**
   * @param {string} key
   * @param {string} name
   */
  forget(key, name) {
    this.edit(key, (entries) => {
      delete entries[name];
    });
  }

  forgetOld() {
    const limit = Date.now() - FORGET_AFTER_DAYS * 86_400_000;
    for (const key of this.keys()) {
      this.edit(key, (entries) => {
        for (const [name, entry] of Object.entries(entries)) if (time(entry) < limit) delete entries[name];
      });
    }
  }

  /**
   * What of a review is to be sent, in order. Its submit goes last: another tab's answers are not among those it holds.
   * @param {string} key
   */
  waiting(key) {
    return Object.entries(this.read(key))
      .filter(([, entry]) => entry.url && !entry.refused)
      .sort(([one, a], [other, b]) => Number(one === SUBMIT) - Number(other === SUBMIT) || time(a) - time(b));
  }

  isAnythingWaiting() {
    return this.keys().some((key) => this.waiting(key).length > 0);
  }

  /** Whether leaving this page would lose what the browser did not let us keep. */
  wouldLose() {
    return [...this.#unstored.keys()].some((key) => this.waiting(key).length > 0);
  }

  // ── Sending ──────────────────────────────────────────────────────────────────────────────────────

  /** Sends all that waits; tried again by itself until it arrives. Resolves when there is no more to do now. */
  flush() {
    this.#flushing ??= this.#drain().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  /** The network is back: the next attempts come quickly again. */
  flushAnew() {
    this.#failures = 0;
    return this.flush();
  }

  async #drain() {
    clearTimeout(this.#timer);
    // One change at a time, chosen anew each time: what comes in meanwhile goes too.
    for (;;) {
      const [key] = this.keys()
        .filter((one) => this.waiting(one).length > 0)
        .sort((one, other) => this.#oldest(one) - this.#oldest(other));
      if (!key) break;
      const [name, entry] = this.waiting(key)[0];
      this.#listener.sending(key);
      const outcome = await send(entry);
      if (outcome.later) {
        const wait = RETRY_SECONDS[Math.min(this.#failures++, RETRY_SECONDS.length - 1)];
        this.#timer = setTimeout(() => this.flush(), 1000 * wait);
        const count = this.keys().reduce((sum, one) => sum + this.waiting(one).length, 0);
        this.#listener.waits(outcome.later, count);
        return;
      }
      this.#failures = 0;
      this.#settle(key, name, entry, outcome);
    }
    this.#listener.done();
  }

  /** @param {string} key */
  #oldest(key) {
    return Math.min(...Object.values(this.read(key)).map(time));
  }

  /**
   * @param {string} key
   * @param {string} name
   * @param {ReviewEntry} entry
   * @param {Outcome} outcome
   */
  #settle(key, name, entry, outcome) {
    this.edit(key, (entries) => {
      if (entries[name]?.at !== entry.at) return; // it changed again while on its way
      if (outcome.refused) {
        entries[name].refused = outcome.refused;
        return;
      }
      delete entries[name];
      if (name !== SUBMIT) return;
      // Nothing else can be sent of a review that is submitted; what was, or was refused, is in the form.
      for (const each of Object.keys(entries)) if (time(entries[each]) <= time(entry)) delete entries[each];
    });
    this.#listener.settled(key, name, entry, outcome);
  }
}

// ── Answers of other tabs ────────────────────────────────────────────────────────────────────────

/**
 * An answer in words: a page sends along those it has seen or sent.
 * @type {(answer: ReviewFields) => string}
 */
export const inWords = ({ verdict, reason, evidence }) =>
  JSON.stringify({ verdict, reason, evidence: JSON.parse(String(evidence || "[]")) });

const COMPARED = ["verdict", "reason", "evidence", "field", "start", "end", "text"];
/** @type {(answer: StoredAnswer) => string} */
const comparable = ({ verdict, reason, evidence = [] }) =>
  JSON.stringify(verdict ? { verdict, reason, evidence } : {}, COMPARED);

/** @type {(answer: StoredAnswer, words: string[]) => boolean} */
export const isAmong = (answer, words) =>
  words.some((text) => {
    try {
      return comparable(JSON.parse(text)) === comparable(answer);
    } catch {
      return text === answer.verdict; // pages of an earlier release kept the bare label
    }
  });

/**
 * What of an entry a newer answer would replace without knowing it, as a refusal of that answer.
 * @type {(fields: ReviewFields, entry: ReviewEntry | undefined) => Refusal | undefined}
 */
const unknownTo = (fields, entry) => {
  if (!fields.known || !entry) return;
  const words = [...[fields.known].flat(), inWords(fields)];
  /** @type {StoredAnswer} */
  const waiting = JSON.parse(inWords(entry.fields));
  if (!isAmong(waiting, words))
    return {
      status: 409,
      message: "It was answered in another tab meanwhile.",
      stored: waiting,
      waits: true,
    };
  const { refused } = entry;
  if (refused?.waits && refused.stored && !isAmong(refused.stored, words)) return refused;
};

/** @param {ReviewEntry} entry */
const time = (entry) => Number.parseFloat(entry.at);

/**
 * `later` says why it did not arrive: no network, a server in trouble, or signed out.
 * @param {ReviewEntry} entry
 * @returns {Promise<Outcome>}
 */
const send = async (entry) => {
  const body = formData(entry.fields);
  let answer;
  try {
    answer = await post(entry.url ?? "", { body, keepalive: size(body) <= KEEPALIVE_MAX_BYTES });
  } catch {
    return { later: "Offline" };
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return { saved: said };
  const isSignedOut = answer.type === "opaqueredirect" || (answer.status === 403 && !said.message);
  if (isSignedOut) return { later: "Signed out" };
  if (answer.status >= 500 || answer.status === 429) return { later: "Server busy" };
  return {
    refused: { message: `The server refused it (error ${answer.status}).`, ...said, status: answer.status },
  };
};

/** @param {ReviewFields} fields */
const formData = (fields) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) data.append(name, one);
  }
  data.delete("csrfmiddlewaretoken"); // the header's is newer
  return data;
};

/**
 * How many bytes a form takes on its way, a little more rather than less.
 * @param {FormData} data
 */
const size = (data) =>
  [...data].reduce(
    (sum, [name, value]) => sum + new TextEncoder().encode(`${name}${value}`).length + BYTES_AROUND_A_FIELD,
    0,
  );
