// Evidence: selected words of the item become places in its stored text, marked there and listed beside the verdict.
//
// A place is {field, start, end, text} with offsets in characters (code points) of the field as it is stored; what
// is on the page is its Markdown laid out, so each text on the page is first laid beside its source.

import { tell } from "../shared/events.js";
import { one } from "../shared/one.js";
import { toast } from "../shared/toast.js";
import { form, showPane, textNodes } from "./form.js";
import { isPair, isSpace, laidBeside, points, units } from "./source_places.js";

const MOST = 20;
const COLOURS = 6;
/** @typedef {{ field: string, start: number, end: number, text: string }} Span */

/** @type {{ sources: Record<string, string>, maps: Map<HTMLElement, ReturnType<typeof laidBeside>> }} */
const page = { sources: {}, maps: new Map() };

/** @param {Node} node */
const fieldOf = (node) => (node instanceof Element ? node : node.parentElement)?.closest("[data-field]");

/** @param {HTMLElement} region */
const nameOf = (region) => region.dataset.field ?? "";

/**
 * Each text of the item is laid beside its source once per page.
 * @param {HTMLElement} region
 */
const layBeside = (region) => {
  const known = page.maps.get(region);
  if (known) return known;
  const map = laidBeside(page.sources[nameOf(region)], textNodes(region));
  page.maps.set(region, map);
  return map;
};

// ── From a selection to a place ────────────────────────────────────────────────────────────────
/** @type {(range: Range) => Span | null} */
const placeOf = (range) => {
  const region = fieldOf(range.startContainer) ?? fieldOf(range.endContainer);
  if (!region || !(nameOf(region) in page.sources)) return null;
  const { source, nodes, starts, ends } = layBeside(region);
  let first = -1;
  let last = -1;
  for (const node of nodes) {
    if (!range.intersectsNode(node)) continue;
    const from = node === range.startContainer ? range.startOffset : 0;
    const to = node === range.endContainer ? range.endOffset : node.length;
    const places = starts.get(node) ?? [];
    for (let i = from; i < to; i++) {
      if (places[i] === -1) continue;
      if (first === -1) first = places[i];
      last = places[i];
    }
  }
  if (first === -1) return null;
  let end = ends.get(last) ?? last + 1;
  if (isPair(source, last)) end = last + 2;
  while (first < end && isSpace(source[first])) first++; // a double click takes the blank along
  while (end > first && isSpace(source[end - 1])) end--;
  if (first === end) return null;
  if (first > 0 && isPair(source, first - 1)) first -= 1; // never half a character
  return {
    field: nameOf(region),
    start: points(source, first),
    end: points(source, end),
    text: source.slice(first, end),
  };
};

// ── From a place to the page ───────────────────────────────────────────────────────────────────
/** @type {(span: Span) => Range | null} */
const rangeOf = (span) => {
  const region = document.querySelector(`[data-field="${CSS.escape(span.field)}"]`);
  if (!region || !(span.field in page.sources)) return null;
  const { source, nodes, starts } = layBeside(region);
  const from = units(source, span.start);
  const to = units(source, span.end);
  /** @type {Range | null} */
  let range = null;
  for (const node of nodes) {
    const places = starts.get(node) ?? new Int32Array();
    for (let i = 0; i < places.length; i++) {
      if (places[i] < from || places[i] >= to) continue;
      if (!range) {
        range = document.createRange();
        range.setStart(node, i);
      }
      range.setEnd(node, i + 1);
    }
    if (range && places.length && places[places.length - 1] >= to) break;
  }
  return range;
};

/** @param {Range} range */
const scrollTo = (range) => {
  const element = range.startContainer.parentElement;
  if (!element) return;
  for (
    let details = element.closest("details");
    details;
    details = details.parentElement?.closest("details") ?? null
  ) {
    details.open = true;
  }
  showPane("main");
  const pane = element.closest(".panes__main");
  const box = range.getBoundingClientRect();
  if (pane && pane.scrollHeight > pane.clientHeight) {
    pane.scrollTop += box.top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  } else {
    window.scrollBy(0, box.top - window.innerHeight / 3);
  }
};

// ── What the sheet holds ───────────────────────────────────────────────────────────────────────
const articles = () => [...(form()?.querySelectorAll("[data-criterion]") ?? [])];
/** @param {HTMLElement} article */
const fieldFor = (article) => article.querySelector('input[name^="evidence_"]');
/** @type {(article: HTMLElement) => Span[]} */
const spansOf = (article) => JSON.parse(fieldFor(article)?.value || "[]");
/** @param {string} field */
const where = (field) => {
  const [, name, turn] = /^(\w+)(?:\[(\d+)\])?/.exec(field) ?? ["", field];
  return name[0].toUpperCase() + name.slice(1) + (turn === undefined ? "" : `, turn ${Number(turn) + 1}`);
};

/** @type {(className: string, label: string, words: string) => HTMLButtonElement} */
const button = (className, label, words) => {
  const made = document.createElement("button");
  made.type = "button";
  made.className = className;
  if (label) made.setAttribute("aria-label", label);
  made.append(words);
  return made;
};

/** @param {HTMLElement} article */
const drawChips = (article) => {
  const box = one("[data-evidence]", article);
  box.querySelector(".quoted")?.remove();
  const spans = spansOf(article);
  if (!spans.length) return;
  const list = document.createElement("ul");
  list.className = `quoted list-plain quoted--${1 + (articles().indexOf(article) % COLOURS)}`;
  list.setAttribute("aria-label", "Evidence");
  for (const [at, span] of spans.entries()) {
    const line = document.createElement("li");
    line.className = "quoted__line";
    const short = span.text.length > 160 ? `${span.text.slice(0, 160)}…` : span.text;
    const go = button("quoted__words", "", short);
    go.title = `Show it in the text (${where(span.field)})`;
    go.dataset.quoteGo = String(at);
    const place = document.createElement("span");
    place.className = "quoted__where";
    place.textContent = where(span.field);
    line.append(go, place);
    if (form()?.dataset.heartbeat) {
      const remove = button("quoted__remove", `Remove “${short.slice(0, 40)}”`, "×");
      remove.dataset.quoteRemove = String(at);
      line.append(remove);
    }
    list.append(line);
  }
  box.prepend(list);
};

const drawMarks = () => {
  if (!CSS.highlights) return; // the list says it all; only the marks in the text are missing
  /** @type {Range[][]} */
  const marks = Array.from({ length: COLOURS }, () => []);
  for (const [at, article] of articles().entries()) {
    for (const span of spansOf(article)) {
      const range = rangeOf(span);
      if (range) marks[at % COLOURS].push(range);
    }
  }
  for (const [at, ranges] of marks.entries())
    CSS.highlights.set(`evidence-${at + 1}`, new Highlight(...ranges));
};

/** @type {(article: HTMLElement, spans: Span[]) => void} */
const change = (article, spans) => {
  one('input[name^="evidence_"]', article).value = JSON.stringify(spans);
  draw(article);
  tell("review:evidence", { article });
};
/** @param {HTMLElement} article */
const draw = (article) => {
  drawChips(article);
  drawMarks();
};

const quote = () => {
  const article = form()?.querySelector("[data-criterion].is-active");
  if (!article || !form()?.dataset.heartbeat) return;
  const selection = getSelection();
  const range = selection?.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
  const span = range && placeOf(range);
  if (!span) {
    toast(
      range
        ? "These words cannot be quoted: select within one text of the item."
        : "Select words of the item first.",
    );
    return;
  }
  const spans = spansOf(article);
  const isThere = spans.some(
    (one) => one.field === span.field && one.start === span.start && one.end === span.end,
  );
  if (isThere) return;
  if (spans.length >= MOST) {
    toast(`A criterion has at most ${MOST} quotes.`);
    return;
  }
  change(article, [...spans, span]);
  selection?.removeAllRanges();
};

// ── What is listened to ────────────────────────────────────────────────────────────────────────
document.addEventListener("review:key", (event) => {
  if (event.detail.key !== "h") return;
  event.preventDefault();
  quote();
});
document.addEventListener("mousedown", (event) => {
  if (event.target.closest("[data-review-quote]")) event.preventDefault(); // the selection stays
});
document.addEventListener("click", (event) => {
  const article = event.target.closest("[data-criterion]");
  const go = event.target.closest("[data-quote-go]");
  const remove = event.target.closest("[data-quote-remove]");
  if (event.target.closest("[data-review-quote]")) quote();
  if (!article) return;
  if (go) {
    const range = rangeOf(spansOf(article)[Number(go.dataset.quoteGo)]);
    if (range) scrollTo(range);
  }
  if (remove) {
    const at = Number(remove.dataset.quoteRemove);
    change(
      article,
      spansOf(article).filter((_, each) => each !== at),
    );
    article.focus({ preventScroll: true });
  }
});
document.addEventListener("review:show", ({ detail: { range } }) => scrollTo(range));
document.addEventListener("review:redraw", ({ detail: { article } }) => draw(article));

document.addEventListener("review:ready", () => {
  const sources = document.getElementById("review-sources");
  page.sources = sources ? JSON.parse(sources.textContent) : {};
  page.maps = new Map();
  for (const article of articles()) if (fieldFor(article)) drawChips(article);
  if (form()) drawMarks();
});
