// Gets what is answered on the review page to the server, and says on the page how far that is.
//
// Every change goes into the outbox at once (outbox.js), a submit after all else of its review. What an earlier visit
// left behind is put back; when what is stored on the server differs, the person chooses.

import { tell } from "../shared/events.js";
import { one } from "../shared/one.js";
import { toast } from "../shared/toast.js";
import { form, lacksReason, theForm } from "./form.js";
import { inWords, isAmong, Outbox, SUBMIT } from "./outbox.js";

let leaving = false; // from Ctrl+Enter on until the next page is there

/** The key of the review that is open; "" where none is, which no review has. */
const ownKey = () => {
  const { person, review } = form()?.dataset ?? {};
  return person && review ? Outbox.key(person, review) : "";
};

/** @type {Record<string, string>} by what keeps it from arriving */
const NOT_SUBMITTED = {
  "Signed out":
    "You are signed out: nothing was submitted yet. Sign in in another tab; it goes on by itself then.",
  "Server busy": "The server could not take it yet. It waits on this device and is tried again by itself.",
  Offline:
    "No connection: nothing was submitted yet. It waits on this device and is sent when you are back online.",
};

const outbox = new Outbox({
  sending: (key) => {
    if (key === ownKey() && !leaving) show("saving", "Saving…");
  },
  waits: (why, count) => {
    show("offline", `${why}: ${count} ${count === 1 ? "change waits" : "changes wait"} here`);
    if (!leaving || !form()) return;
    stay();
    problem(NOT_SUBMITTED[why] ?? why);
  },
  settled: (key, name, entry, { saved, refused }) => {
    const isHere = key === ownKey();
    if (saved && isHere) tell("review:saved", { name, fields: entry.fields });
    if (name === SUBMIT && saved) {
      if (isHere) {
        leaving = true;
        // The note is shown by the page that comes.
        if (saved.location) {
          if (saved.differs) keepDiffers(saved.differs);
          location.assign(saved.location);
        }
      } else if (saved.differs) sayDiffers(saved.differs);
      tell("review:submitted", { key, isHere });
    } else if (name === SUBMIT && refused) {
      keepAlone(key, entry, refused);
      returned(key, refused);
      tell("review:returned", { key });
    } else if (refused && isHere) conflict(name, entry, refused);
  },
  done: () => {
    if (leaving) return;
    const refused = form() && Object.entries(outbox.read(ownKey())).find(([, entry]) => entry.refused);
    if (refused) show("conflict", "Not saved");
    else show("saved", "Saved");
    // Of several that were refused one is shown at a time.
    if (refused?.[1].refused && document.getElementById("review-problem")?.hidden)
      conflict(...refused, refused[1].refused);
    drawElsewhere();
  },
});

// ── What differed from others in the review before ─────────────────────────────────────────────
const DIFFERED = "rubricweb.differed";
/** @param {[text: string, url: string]} note */
const keepDiffers = (note) => {
  try {
    sessionStorage.setItem(DIFFERED, JSON.stringify(note));
  } catch {
    // then nobody is told, and it is on the page of the review
  }
};
/** @param {[text: string, url: string]} note */
const sayDiffers = ([text, url]) => toast(text, "info", { url, words: "See and answer", key: "d" });
document.addEventListener("review:ready", () => {
  try {
    const note = sessionStorage.getItem(DIFFERED);
    sessionStorage.removeItem(DIFFERED);
    if (note) sayDiffers(JSON.parse(note));
  } catch {
    // as above
  }
});

// ── The words about it ─────────────────────────────────────────────────────────────────────────
/** @type {(state: string, text: string) => void} */
const show = (state, text) => {
  const sign = form()?.querySelector(".save-state");
  if (!sign) return;
  sign.hidden = false;
  sign.dataset.state = state;
  sign.textContent = text;
};
/** @type {(text: string, more?: HTMLElement[]) => void} */
const problem = (text, more = []) => {
  const box = document.getElementById("review-problem");
  if (!box) return;
  const words = document.createElement("p");
  words.textContent = text;
  box.replaceChildren(words, ...more);
  box.hidden = false;
};
const clearProblem = () => {
  const box = document.getElementById("review-problem");
  if (box) box.hidden = true;
};

// ── What the server did not take ───────────────────────────────────────────────────────────────
/** @type {(text: string, act: () => void) => HTMLButtonElement} */
const link = (text, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button button--small";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
};
/** @type {(name: string, change?: (entry: ReviewEntry) => void) => void} */
const sendAgain = (name, change = () => {}) => {
  clearProblem();
  outbox.again(ownKey(), name, change);
};

/** @type {(answer: ReviewFields | StoredAnswer) => string} */
const said = ({ verdict, reason }) => (verdict || "no answer") + (reason ? ` (${reason})` : "");

/** @type {(fields: ReviewFields) => StoredAnswer} */
const asStored = (fields) => JSON.parse(inWords(fields));
/** @type {(answer: StoredAnswer) => ReviewFields} */
const asFields = ({ verdict, reason, evidence = [] }) => ({
  verdict,
  reason,
  evidence: JSON.stringify(evidence),
});

/**
 * The two answers to choose between. What waits may be the other tab's, refused for the one that this page shows.
 * @type {(name: string, entry: ReviewEntry, stored: StoredAnswer) => { mine: StoredAnswer, theirs: StoredAnswer }}
 */
const sides = (name, { fields }, stored) => {
  const waiting = asStored(fields);
  const id = name.split(":")[1];
  const page = new FormData(theForm());
  const [verdict, reason, evidence] = ["verdict", "reason", "evidence"].map((each) =>
    String(page.get(`${each}_${id}`) ?? ""),
  );
  const shown = [inWords({ verdict, reason, evidence })];
  const isOurs = isAmong(waiting, shown) || !isAmong(stored, shown);
  return isOurs ? { mine: waiting, theirs: stored } : { mine: stored, theirs: waiting };
};

/** @type {(name: string, entry: ReviewEntry, refusal: Refusal) => void} */
const conflict = (name, entry, { message, stored, status, waits }) => {
  show("conflict", "Not saved");
  const row = document.createElement("div");
  row.className = "row row--tight";
  if (stored && status === 409 && form()?.dataset.heartbeat) {
    const { mine, theirs } = waits
      ? sides(name, entry, stored)
      : { mine: asStored(entry.fields), theirs: stored };
    const words = document.createElement("p");
    words.textContent = `Here: ${said(mine)}. ${waits ? "In the other tab" : "Stored"}: ${said(theirs)}.`;
    const keepMine = (/** @type {ReviewEntry} */ { fields }) => {
      if (waits) Object.assign(fields, asFields(mine));
      else delete fields.known;
    };
    const take = () => {
      clearProblem();
      tell("review:take", { name, stored: theirs, waits });
      if (waits) sendAgain(name, ({ fields }) => Object.assign(fields, asFields(theirs)));
      else outbox.forget(ownKey(), name);
      outbox.flush();
    };
    row.append(
      link("Keep mine", () => sendAgain(name, keepMine)),
      link(waits ? "Take the other" : "Take what is stored", take),
    );
    problem(message, [words, row]);
    return;
  }
  const words = document.createElement("p");
  words.textContent = "Your answers stay on this device.";
  const reload = document.createElement("a");
  reload.href = location.pathname;
  reload.textContent = "See what is stored";
  row.append(
    link("Try again", () => sendAgain(name)),
    reload,
  );
  problem(message, [words, row]);
};

// Submits of other reviews that came back, and drafts of them that wait for somebody to look.
const drawElsewhere = () => {
  const box = form()?.querySelector("[data-review-elsewhere]");
  if (!box) return;
  /** @type {HTMLElement[]} */
  const lines = [];
  for (const key of outbox.keys()) {
    if (key === ownKey()) continue;
    const refused = Object.entries(outbox.read(key)).filter(([, entry]) => entry.refused);
    if (!refused.length) continue;
    const [name, entry] = refused.find(([each]) => each === SUBMIT) ?? refused[0];
    const line = document.createElement("p");
    const back = document.createElement("a");
    back.href = entry.page ?? entry.url ?? "";
    back.textContent = `Go back to ${entry.item ?? "it"}`;
    line.append(
      `${entry.item ?? "Another review"} was not ${name === SUBMIT ? "submitted" : "saved"}: ${entry.refused?.message} `,
      back,
    );
    lines.push(line);
  }
  box.replaceChildren(...lines);
  box.hidden = lines.length === 0;
};

// The answers of a refused submit to what was answered in another tab too: each goes alone, so that each of them stays
// on this device until somebody has chosen.
/** @type {(key: string, entry: ReviewEntry, refusal: Refusal) => void} */
const keepAlone = (key, { fields, item, page }, { elsewhere = {} }) => {
  for (const [id, url] of Object.entries(elsewhere)) {
    const own = Object.fromEntries(
      ["verdict", "reason", "evidence", "seconds", "known"].map((name) => [name, fields[`${name}_${id}`]]),
    );
    outbox.keep(key, `criterion:${id}`, { url, fields: own, item, page });
  }
};

/** @type {(name: string, url: string | null, fields: ReviewFields | null) => void} */
const keep = (name, url, fields) => {
  if (fields === null) outbox.forget(ownKey(), name);
  else outbox.keep(ownKey(), name, { url, fields, item: form()?.dataset.item, page: location.pathname });
};

document.addEventListener("review:change", ({ detail: { name, url = null, fields } }) => {
  if (url && !leaving && outbox.read(ownKey())[SUBMIT]) {
    outbox.forget(ownKey(), SUBMIT);
    problem("You changed something before it was sent: submit again when you are done.");
  }
  keep(name, url, fields);
  const kept = outbox.read(ownKey())[name];
  if (kept?.refused) conflict(name, kept, kept.refused);
  else if (url && !leaving) {
    show("saving", "Saving…");
    outbox.flush();
  }
});

window.addEventListener("online", () => {
  if (outbox.person) outbox.flushAnew();
});
window.addEventListener("offline", () => {
  if (form() && outbox.waiting(ownKey()).length === 0) show("offline", "Offline: changes are kept here");
});

document.addEventListener("review:ready", () => {
  leaving = false;
  const here = form();
  if (!here) return;
  outbox.person = here.dataset.person ?? null; // it outlives the form: a reveal has none
  outbox.forgetOld();
  if (!here.dataset.heartbeat) {
    showKept();
    drawElsewhere();
    return; // nothing can be saved here now: what waits keeps waiting
  }
  const refused = outbox.read(ownKey())[SUBMIT]?.refused;
  // Somebody looks at it again: what was refused is tried again, a submit only when they ask for it.
  outbox.edit(ownKey(), (entries) => {
    if (entries[SUBMIT]?.refused) delete entries[SUBMIT];
    for (const entry of Object.values(entries)) if (!entry.refused?.waits) delete entry.refused;
  });
  const left = outbox.read(ownKey());
  if (Object.keys(left).length) tell("review:restored", left);
  if (refused) sayReturned(refused);
  drawElsewhere();
  if (outbox.isAnythingWaiting()) outbox.flush();
});

// Nothing can be saved of the review that is open: its reader starts with what comes next instead, which is only known
// once the submit that is on its way has arrived.
document.addEventListener("review:gone", async () => {
  leaving = true;
  const [key, next] = [ownKey(), theForm().dataset.next ?? ""];
  await outbox.flush();
  for (const name of Object.keys(outbox.read(key))) outbox.forget(key, name);
  location.assign(next);
});

// A sheet that is locked shows what was answered here and did not arrive before it was.
const showKept = () => {
  const kept = Object.fromEntries(Object.entries(outbox.read(ownKey())).filter(([name]) => name !== SUBMIT));
  const count = Object.keys(kept).length;
  if (count === 0) return;
  tell("review:restored", kept);
  show("offline", `${count} ${count === 1 ? "change" : "changes"} only on this device`);
};

window.addEventListener("beforeunload", (event) => {
  if (!leaving && outbox.wouldLose()) event.preventDefault();
});

// ── Submitting ─────────────────────────────────────────────────────────────────────────────────
/** @param {HTMLElement[]} articles */
const missingLinks = (articles) => {
  const list = document.createElement("ul");
  list.className = "list-plain review__missing";
  for (const article of articles) {
    const to = document.createElement("a");
    to.href = `#${article.id}`;
    const needsReason = article.querySelector("input:checked");
    to.textContent = one("[data-criterion-name]", article).textContent + (needsReason ? ": reason" : "");
    const line = document.createElement("li");
    line.append(to);
    list.append(line);
  }
  return [list];
};
/** @type {(articles: HTMLElement[], text: string) => void} */
const nameMissing = (articles, text) => {
  for (const article of articles) article.classList.add("is-missing");
  problem(text, missingLinks(articles));
  tell("review:open", { id: articles[0].dataset.criterion ?? "" });
};
/** @type {(verdicts: number, reasons: number) => string} */
const incomplete = (verdicts, reasons) => {
  const many = (/** @type {number} */ count) =>
    count === 1 ? "One criterion still needs" : `${count} criteria still need`;
  if (!reasons) return `${many(verdicts)} a verdict.`;
  if (!verdicts) return `${many(reasons)} a reason.`;
  return `${many(verdicts)} a verdict, ${reasons} ${reasons === 1 ? "needs" : "need"} a reason.`;
};

document.addEventListener("submit", (event) => {
  const button = event.submitter;
  const action = button?.getAttribute("value");
  if (event.target.id !== "review-form" || !button || (action !== "submit" && action !== "compare")) return;
  event.preventDefault();
  if (leaving) return;
  const articles = [...event.target.querySelectorAll("[data-criterion]")];
  const open = articles.filter((each) => !each.querySelector("input:checked"));
  const unreasoned = articles.filter((each) => !open.includes(each) && lacksReason(each));
  if (open.length || unreasoned.length) {
    nameMissing([...open, ...unreasoned], incomplete(open.length, unreasoned.length));
    return;
  }
  // The server knows nothing of another tab's answer that waits here: a submit would settle it unasked.
  const [undecided] = Object.entries(outbox.read(ownKey())).filter(([, { refused }]) => refused?.waits);
  if (undecided?.[1].refused) {
    conflict(...undecided, undecided[1].refused);
    return;
  }
  leaving = true;
  button.setAttribute("aria-busy", "true");
  clearProblem();
  show("saving", "Submitting…");
  /** @type {ReviewFields} */
  const fields = {};
  const data = new FormData(event.target);
  for (const name of data.keys()) {
    const values = data.getAll(name).filter((value) => typeof value === "string");
    if (name !== "csrfmiddlewaretoken") fields[name] = values.length > 1 ? values : values[0];
  }
  keep(SUBMIT, event.target.getAttribute("action"), { ...fields, action });
  const sent = ownKey();
  // Where the next item is here already, this goes on its way while the reader is there. What others said is
  // only known once it has arrived.
  const isNext = action === "submit" && !tell("review:leave", { key: sent });
  if (isNext) leaving = false;
  outbox.flush();
});

// Whether the server has all: what comes next is only known then.
document.addEventListener("review:is-idle", (event) => {
  const isSubmitWaiting = outbox.keys().some((key) => outbox.waiting(key).some(([name]) => name === SUBMIT));
  if (outbox.person && isSubmitWaiting) event.preventDefault();
});

const stay = () => {
  leaving = false;
  form()?.querySelector("[data-review-submit]")?.removeAttribute("aria-busy");
};

/** @type {(key: string, refusal: Refusal) => void} */
const returned = (key, refusal) => {
  if (key !== ownKey()) {
    drawElsewhere();
    const said = form()?.querySelector("[data-review-elsewhere]")?.getClientRects();
    if (!said?.length) toast(`An item was not submitted: ${refusal.message}`, "error");
    return;
  }
  stay();
  outbox.forget(ownKey(), SUBMIT);
  sayReturned(refusal);
};
/** @param {Refusal} refusal */
const sayReturned = ({ status, message, missing = [] }) => {
  const named = missing
    .map((id) => document.getElementById(`criterion-${id}`))
    .filter((article) => article !== null);
  if (status === 422 && named.length) {
    nameMissing(named, message);
    return;
  }
  show("conflict", "Not submitted");
  const words = document.createElement("p");
  const reload = document.createElement("a");
  reload.href = location.pathname;
  reload.textContent = "See what is stored";
  words.append("Your answers stay on this page. ", reload);
  problem(message, [words]);
};
