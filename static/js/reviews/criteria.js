// One criterion open at a time: choosing a verdict saves it and opens the next one that has none.

import { tell } from "../shared/events.js";
import { one } from "../shared/one.js";
import {
  lacksReason,
  reasonOf,
  requiresReason,
  form as reviewForm,
  showPane,
  theForm,
  verdictOf,
} from "./form.js";
import { inWords } from "./outbox.js";

const PAUSE_MILLISECONDS = 800;
/** @type {HTMLFormElement | null} */
let form = null;
/** @type {HTMLElement[]} */
let articles = [];
/** @type {{ article: HTMLElement, undo: () => void }[]} */
let undoable = [];
/** @type {Map<HTMLElement, string>} */
let stored = new Map();
/** @type {Map<HTMLElement, ReturnType<typeof setTimeout>>} */
let timers = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let noteTimer;
let byArrow = false;

/** @param {HTMLElement} article */
const radios = (article) => [...article.querySelectorAll('input[type="radio"]')];
/** @param {HTMLElement} article */
const evidenceOf = (article) => one('input[name^="evidence_"]', article);
/** @param {HTMLElement} article */
const secondsOf = (article) => one('input[name^="seconds_"]', article);
const active = () => articles.find((article) => article.classList.contains("is-active")) ?? articles[0];
/** @param {string} id */
const byId = (id) => articles.find((article) => article.dataset.criterion === id);
const editable = () => form && !form.querySelector(".verdicts[disabled]");
const note = () => document.querySelector("textarea#review-note");
const flag = () => document.querySelector("form[data-review-flag]");
/**
 * The answers this page has seen or sent, oldest first, as fields of the form: another one stored is a conflict.
 * @param {HTMLElement} article
 */
const knownFields = (article) => [
  ...theForm().querySelectorAll(`input[name="known_${article.dataset.criterion}"]`),
];
/** @param {HTMLElement} article */
const known = (article) => knownFields(article).map((field) => field.value);
/** @type {(article: HTMLElement, answers: string[]) => void} */
const know = (article, answers) => {
  const fields = knownFields(article);
  for (const answer of answers) {
    const field = document.createElement("input");
    Object.assign(field, { type: "hidden", name: fields[0].name, value: answer });
    fields[0].before(field);
  }
  for (const field of fields) field.remove();
};
/** @param {{ target: HTMLElement }} event */
const inForm = (event) => form?.contains(event.target) ?? false;

// ── Opening ────────────────────────────────────────────────────────────────────────────────────
/** @type {(article: HTMLElement, how?: { focus?: boolean }) => void} */
const open = (article, { focus = true } = {}) => {
  for (const each of articles) each.classList.toggle("is-active", each === article);
  if (focus) article.focus({ preventScroll: true });
  article.scrollIntoView({ block: "nearest" });
};

/** @param {number} by */
const step = (by) => {
  const target = articles[articles.indexOf(active()) + by];
  if (target) open(target);
};

/** @param {HTMLElement} article */
const openNext = (article) => {
  if (lacksReason(article)) {
    write(article);
    return;
  }
  const at = articles.indexOf(article);
  const next = [...articles.slice(at + 1), ...articles.slice(0, at)].find((each) => !verdictOf(each));
  if (next) open(next);
  else open(article);
};

document.addEventListener("click", (event) => {
  const article = document.getElementById(
    event.target.closest('a[href^="#criterion-"]')?.hash.slice(1) ?? "",
  );
  if (form && article) {
    event.preventDefault();
    showPane("side");
    open(article);
    return;
  }
  const here = inForm(event) ? event.target.closest("[data-criterion]") : null;
  if (here && !here.classList.contains("is-active") && !getSelection()?.toString()) open(here);
});
document.addEventListener("focusin", (event) => {
  const article = inForm(event) ? event.target.closest("[data-criterion]") : null;
  if (article && !article.classList.contains("is-active")) open(article, { focus: false });
});
document.addEventListener("review:open", ({ detail }) => {
  const article = byId(detail.id);
  if (article) open(article);
});

// ── Answering ──────────────────────────────────────────────────────────────────────────────────
/** @param {HTMLElement} article */
const save = (article) => {
  const id = article.dataset.criterion ?? "";
  const verdict = verdictOf(article);
  const reason = reasonOf(article).value;
  const evidence = evidenceOf(article).value;
  clearTimeout(timers.get(article));
  timers.delete(article);
  // Without a verdict there is nothing to store on the server yet: the reason and the evidence wait here.
  const isWaiting = !verdict && (reason || evidence !== "[]");
  tell("review:change", { name: `reason:${id}`, fields: isWaiting ? { reason, evidence } : null });
  if (verdict || stored.get(article)) {
    const seconds = secondsOf(article).value;
    const fields = { verdict, reason, evidence, known: known(article) };
    tell("review:change", {
      name: `criterion:${id}`,
      url: article.dataset.url,
      fields: seconds ? { ...fields, seconds } : fields,
    });
    know(article, [...fields.known, inWords(fields)]);
  }
  stored.set(article, verdict);
  draw(article);
};

/** @type {(article: HTMLElement, verdict: string) => void} */
const choose = (article, verdict) => {
  for (const radio of radios(article)) radio.checked = radio.value === verdict;
  save(article);
};

/** @param {HTMLElement} article */
const draw = (article) => {
  const verdict = verdictOf(article);
  const chips = article.querySelector("template[data-chips]") ?? one("template#review-chips");
  const chip = [...chips.content.querySelectorAll("[data-chip]")].find(
    (each) => each.dataset.chip === verdict,
  );
  one("[data-criterion-state]", article).replaceChildren(...(chip ? chip.cloneNode(true).childNodes : []));
  article.classList.toggle("is-answered", Boolean(verdict));
  const rule = one("[data-reason-rule]", article);
  const isRequired = requiresReason(article);
  rule.textContent = isRequired ? "required" : "optional";
  rule.classList.toggle("is-required", isRequired);
  reasonOf(article).toggleAttribute("aria-required", isRequired);
  if (verdict && !lacksReason(article)) article.classList.remove("is-missing");
  const answered = articles.filter(verdictOf).length;
  for (const number of document.querySelectorAll("[data-review-answered]"))
    number.textContent = String(answered);
  const here = theForm();
  one("progress[data-review-progress]", here).value = answered;
  here.querySelector("[data-review-submit]")?.classList.toggle("is-ready", answered === articles.length);
  if (
    !here.querySelector(".is-missing") &&
    verdict &&
    here.querySelector("#review-problem .review__missing")
  ) {
    one("#review-problem").hidden = true;
  }
};

// Arrow keys walk through the radios and choose as they go: that must not run away to the next criterion.
document.addEventListener("keydown", (event) => {
  if (inForm(event)) byArrow = event.key.startsWith("Arrow") && event.target.matches('input[type="radio"]');
});
document.addEventListener("pointerdown", () => (byArrow = false));

document.addEventListener("change", (event) => {
  const article = inForm(event) ? event.target.closest("[data-criterion]") : null;
  if (!article || event.target.type !== "radio") return;
  const before = stored.get(article) ?? "";
  undoable.push({ article, undo: () => choose(article, before) });
  save(article);
  if (!byArrow) openNext(article);
});

/** @type {Map<HTMLElement, string>} */
const quoted = new Map(); // the evidence as it was before the last change, by article
document.addEventListener("review:evidence", ({ detail: { article } }) => {
  const before = quoted.get(article) ?? "[]";
  quoted.set(article, evidenceOf(article).value);
  undoable.push({ article, undo: () => quote(article, before) });
  save(article);
});
/** @type {(article: HTMLElement, spans: string) => void} */
const quote = (article, spans) => {
  evidenceOf(article).value = spans;
  quoted.set(article, spans);
  tell("review:redraw", { article });
  save(article);
};

document.addEventListener("review:key", (event) => {
  if (!form) return;
  const { key } = event.detail;
  if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
  else if ("muc123456789".includes(key)) answer(key);
  else if (key === "e") write(active());
  else if (key === "z") undo();
  else return;
  event.preventDefault();
});

/** @param {string} key */
const answer = (key) => {
  if (!editable()) return;
  const article = active();
  const radio = article.querySelector(`input[data-review-key~="${key}"]`);
  if (!radio) return;
  byArrow = false;
  if (radio.checked) openNext(article);
  else radio.click();
};

const undo = () => {
  const last = undoable.pop();
  if (!last) return;
  last.undo();
  open(last.article);
};

// ── Writing ────────────────────────────────────────────────────────────────────────────────────
/** @param {HTMLElement} article */
const write = (article) => {
  open(article, { focus: true });
  showPane("side");
  const field = reasonOf(article);
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
};

document.addEventListener("input", (event) => {
  if (!inForm(event)) return;
  if (event.target === note()) {
    clearTimeout(noteTimer);
    noteTimer = setTimeout(saveNote, PAUSE_MILLISECONDS);
    return;
  }
  const article = event.target.closest("[data-criterion]");
  if (!article || !event.target.matches("textarea")) return;
  clearTimeout(timers.get(article));
  timers.set(article, setTimeout(save, PAUSE_MILLISECONDS, article));
});
const saveTyped = () => {
  for (const article of [...timers.keys()]) save(article);
  if (noteTimer) saveNote();
};
document.addEventListener("focusout", (event) => inForm(event) && saveTyped());
window.addEventListener("pagehide", saveTyped);

// ── Note and flag ──────────────────────────────────────────────────────────────────────────────
const saveNote = () => {
  clearTimeout(noteTimer);
  noteTimer = undefined;
  const field = one("textarea#review-note");
  tell("review:change", { name: "note", url: field.dataset.reviewNote, fields: { note: field.value } });
};

/** @param {boolean} on */
const drawFlag = (on) => {
  const button = flag()?.querySelector("button");
  if (!button) return;
  button.setAttribute("aria-pressed", String(on));
  button.value = on ? "0" : "1";
};
document.addEventListener("submit", (event) => {
  if (event.target !== flag()) return;
  event.preventDefault();
  const on = one("button", event.target).value === "1";
  drawFlag(on);
  tell("review:change", {
    name: "flag",
    url: event.target.getAttribute("action") ?? undefined,
    fields: { flagged: on ? "1" : "0" },
  });
});

// ── What an earlier visit left on this device, and what the server has instead ─────────────────
document.addEventListener("review:restored", ({ detail }) => {
  for (const [name, { fields }] of Object.entries(detail)) {
    const [kind, id] = name.split(":");
    const article = byId(id);
    if (kind === "note") one("textarea#review-note").value = String(fields.note);
    else if (kind === "flag") drawFlag(fields.flagged === "1");
    else if (article) {
      if (kind === "criterion") know(article, [...[fields.known ?? []].flat(), inWords(fields)]);
      fill(article, kind === "criterion" ? fields : { ...fields, verdict: verdictOf(article) });
    }
  }
});
document.addEventListener("review:take", ({ detail: { name, stored: there, waits } }) => {
  const article = byId(name.split(":")[1]);
  if (!article) return;
  const fields = { ...there, evidence: JSON.stringify(there.evidence ?? []) };
  know(article, [...(waits ? known(article) : []), inWords(fields)]);
  fill(article, fields);
  open(article);
});
// What was sent before it can no longer be what is stored.
document.addEventListener("review:saved", ({ detail: { name, fields } }) => {
  const seen = theForm().elements.namedItem("known_note");
  if (name === "note" && seen instanceof HTMLInputElement) seen.value = String(fields.note);
  const article = byId(name.split(":")[1]);
  if (!article) return;
  const answers = known(article);
  const at = answers.lastIndexOf(inWords(fields));
  if (at > 0) know(article, answers.slice(at));
});
/** @type {(article: HTMLElement, fields: ReviewFields) => void} */
const fill = (article, { verdict, reason = "", evidence }) => {
  reasonOf(article).value = String(reason);
  if (typeof evidence === "string") {
    evidenceOf(article).value = evidence;
    quoted.set(article, evidence);
    tell("review:redraw", { article });
  }
  for (const radio of radios(article)) radio.checked = radio.value === verdict;
  stored.set(article, verdictOf(article));
  draw(article);
};

document.addEventListener("review:ready", () => {
  form = reviewForm();
  articles = form ? [...form.querySelectorAll("[data-criterion]")] : [];
  if (articles.length === 0) form = null;
  undoable = [];
  timers = new Map();
  noteTimer = undefined;
  quoted.clear();
  for (const article of articles) quoted.set(article, evidenceOf(article).value);
  stored = new Map(articles.map((article) => [article, verdictOf(article)]));
  if (!form) return;
  if (location.hash) open(document.getElementById(location.hash.slice(1)) ?? active());
  else if (document.activeElement === document.body) active().focus({ preventScroll: true });
});
