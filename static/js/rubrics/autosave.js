// Stores what is typed in a form by itself: after a pause in typing, one request at a time, until it has arrived.
//
// Knows nothing of the page: that says what to send, and is told what became of it.

import { post } from "../shared/post.js";

const PAUSE_MILLISECONDS = 2_000;
const LONGEST_MILLISECONDS = 15_000; // for who types without a pause
const RETRY_SECONDS = [2, 5, 15, 30, 60];

const REQUEST_MILLISECONDS = 60_000;
/** What may outlive its page; browsers refuse more than 64 KiB of that, as if there were no network. */
const KEEPALIVE_MAX_BYTES = 60_000;

/**
 * What became of a request: `stored` is what the server says of the draft now; `refused` is why it takes none of it,
 * with the `notice` to choose from where somebody else changed the same of the draft; where they changed something
 * else, `merged` is to be taken in and saved again, unless more was typed than the `body` that was sent; what did not arrive is tried `later`.
 * @typedef {{ revision: number, title: string, marks?: SourceMarks }} StoredDraft
 * @typedef {{ revision: number, said: string, rows: Record<string, string>, order: string[],
 *   fields: Record<string, string | boolean> }} MergedDraft
 * @typedef {"offline" | "trouble" | "signed out"} Hindrance
 * @typedef {{ line: number, severity: string, text: string }[]} SourceMarks
 * @typedef {{ stored?: StoredDraft, marks?: SourceMarks, refused?: string, notice?: string, later?: Hindrance, merged?: MergedDraft,
 *   body?: URLSearchParams }} SaveOutcome
 */

/**
 * @typedef {object} AutosavePage
 * @property {() => URLSearchParams} collect what is typed now
 * @property {(body: URLSearchParams) => Promise<SaveOutcome>} send
 * @property {() => boolean} isHeld whether nothing may be sent now
 * @property {(outcome: SaveOutcome) => void} settled a request was answered, or not
 */

export class Autosave {
  #page;
  // Everything is counted in edits: how many there were, how many of them the server has, how many it was asked about.
  #edits = 0;
  #stored = 0;
  #answered = 0;
  #since = 0; // when the first was made that the server was not asked about
  /** @type {{ body: URLSearchParams, edits: number } | null} */
  #unanswered = null; // may have arrived: it is sent again as it was, before anything newer
  #failures = 0;
  #wanted = 0; // up to which edit to send before the next pause
  /** @type {Promise<SaveOutcome> | null} */
  #sending = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {AutosavePage} page
   * @param {{ isRefused?: boolean }} [begun] whether the page brings back something that was refused
   */
  constructor(page, { isRefused = false } = {}) {
    this.#page = page;
    if (isRefused) this.#edits = this.#answered = 1;
  }

  get edits() {
    return this.#edits;
  }

  get isUnsaved() {
    return this.#edits > this.#stored;
  }

  get isFailing() {
    return this.#failures > 0;
  }

  /** Something was typed or moved. */
  touch() {
    if (this.#edits === this.#answered) this.#since = Date.now();
    this.#edits += 1;
    if (!this.isFailing) this.schedule();
  }

  /** Sends what there is after a pause in typing; what did not arrive, after one that grows. */
  schedule() {
    clearTimeout(this.#timer);
    if (this.#sending || this.#edits === this.#answered || this.#page.isHeld()) return;
    const retry = RETRY_SECONDS[Math.min(this.#failures, RETRY_SECONDS.length) - 1];
    const longest = Math.max(0, this.#since + LONGEST_MILLISECONDS - Date.now());
    const wait = this.isFailing ? 1000 * retry : Math.min(PAUSE_MILLISECONDS, longest);
    this.#timer = setTimeout(() => this.save(), wait);
  }

  /** Sends at once what the server was not asked about; gives what became of the last request, {} without one. */
  save() {
    clearTimeout(this.#timer);
    this.#wanted = this.#edits;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
      this.schedule();
    });
    return this.#sending;
  }

  /** Somebody asks for it: sent even if nothing was changed. */
  press() {
    if (!this.#sending) this.#edits += 1;
    return this.save();
  }

  /** What hindered it may be gone. */
  retry() {
    if (!this.isFailing) return;
    this.#failures = 0;
    this.save();
  }

  /**
   * The page has stored everything up to this edit in another way.
   * @param {number} [edits]
   */
  storedElsewhere(edits = this.#edits) {
    this.#stored = this.#answered = edits;
    this.#unanswered = null;
    this.#failures = 0;
    this.schedule();
  }

  async #sendAll() {
    /** @type {SaveOutcome} */
    let outcome = {};
    while (this.#answered < this.#wanted && !this.#page.isHeld()) {
      this.#unanswered ??= { body: this.#page.collect(), edits: this.#edits };
      const { body, edits } = this.#unanswered;
      outcome = await this.#page.send(body);
      if (outcome.later) this.#failures += 1;
      else {
        this.#failures = 0;
        this.#unanswered = null;
        this.#answered = edits;
        this.#since = Date.now();
      }
      if (outcome.stored) this.#stored = edits;
      this.#page.settled(outcome);
      if (!outcome.stored) break;
    }
    return outcome;
  }
}

/**
 * Sends a draft; a small one arrives even if its page is closed meanwhile.
 * @param {string} url
 * @param {URLSearchParams} body
 * @returns {Promise<SaveOutcome>}
 */
export const sendDraft = async (url, body) => {
  const keepalive = body.toString().length <= KEEPALIVE_MAX_BYTES;
  let answer;
  try {
    answer = await post(url, { body, keepalive, signal: AbortSignal.timeout(REQUEST_MILLISECONDS) });
  } catch {
    return { later: "offline" };
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok && said.revision !== undefined) return { stored: said };
  if (answer.type === "opaqueredirect" || (answer.status === 403 && !said.message))
    return { later: "signed out" };
  // An answer that says nothing of the draft is not ours: that of a network's own sign-in page, for one.
  if (answer.ok || answer.status >= 500 || answer.status === 429) return { later: "trouble" };
  if (said.merged) return { merged: said.merged, body };
  return {
    refused: said.message ?? `The server refused it (error ${answer.status}).`,
    notice: said.notice,
    ...(said.marks && { marks: said.marks }),
  };
};
