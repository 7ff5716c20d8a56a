// Finding words in the texts of the item: / opens, Enter and n go on, Shift+Enter and N go back, Esc closes.
//
// Hits are marked without touching the page, and the one one is at is selected: h attaches it as evidence.

import { tell } from "../shared/events.js";
import { hasModifier, isDialogOpen } from "../shared/keys.js";
import { one } from "../shared/one.js";
import { showPane, textNodes } from "./form.js";

const MOST = 5000;
const PAUSE_MILLISECONDS = 120;
/** @type {Range[]} */
let hits = [];
let at = -1;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

const box = () => document.querySelector("[data-find]");
const field = () => one("input", one("[data-find]"));
const isOpen = () => box()?.hidden === false;

// All letters of the item's texts in one string, and where each text begins in it.
const read = () => {
  /** @type {[number, Text][]} */
  const nodes = [];
  let text = "";
  for (const region of document.querySelectorAll("[data-field]")) {
    for (const node of textNodes(region)) {
      nodes.push([text.length, node]);
      text += node.data;
    }
    text += "\n"; // no hit goes from one text into the next
  }
  return { nodes, text };
};

/** @type {(nodes: [number, Text][], place: number) => [number, Text]} */
const nodeAt = (nodes, place) => {
  let low = 0;
  let high = nodes.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (nodes[middle][0] <= place) low = middle;
    else high = middle - 1;
  }
  return nodes[low];
};

/**
 * In lower case, letter for letter in the same place: İ is the only one whose lower case is longer.
 * @param {string} text
 */
const lowered = (text) => text.replaceAll("İ", "I").toLowerCase();

/** @param {string} words */
export const search = (words) => {
  const { nodes, text } = read();
  const wanted = lowered(words);
  /** @type {Range[]} */
  const found = [];
  const haystack = lowered(text);
  for (
    let place = haystack.indexOf(wanted);
    wanted && place !== -1;
    place = haystack.indexOf(wanted, place + wanted.length)
  ) {
    const range = document.createRange();
    const [start, first] = nodeAt(nodes, place);
    const [end, last] = nodeAt(nodes, place + wanted.length - 1);
    range.setStart(first, place - start);
    range.setEnd(last, place + wanted.length - end);
    found.push(range);
    if (found.length === MOST) break;
  }
  return found;
};

const draw = () => {
  const count = one("[data-find] [data-find-count]");
  if (!field().value) count.textContent = "";
  else if (hits.length) count.textContent = `${at + 1} of ${hits.length}${hits.length === MOST ? "+" : ""}`;
  else count.textContent = "Nothing";
  if (!CSS.highlights) return;
  CSS.highlights.set("find", new Highlight(...hits));
  CSS.highlights.set("find-here", new Highlight(...(hits[at] ? [hits[at]] : [])));
};

const show = () => {
  const range = hits[at];
  if (range) tell("review:show", { range });
  draw();
};

const look = () => {
  clearTimeout(timer);
  timer = undefined;
  hits = search(field().value);
  at = hits.length ? 0 : -1;
  show();
};

/** @param {number} by */
const step = (by) => {
  if (timer) look();
  else if (hits.length) {
    at = (at + by + hits.length) % hits.length;
    show();
  }
  if (hits[at]) {
    // Selecting would take the focus out of the field in some browsers, so only once it is left.
    if (document.activeElement !== field()) select();
  }
};
const select = () => {
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(hits[at].cloneRange());
};

const open = () => {
  showPane("main");
  one("[data-find]").hidden = false;
  field().focus();
  field().select();
  look();
};
const close = () => {
  const here = hits[at];
  one("[data-find]").hidden = true;
  hits = [];
  at = -1;
  draw();
  const pane = document.querySelector("[data-criterion].is-active");
  pane?.focus({ preventScroll: true });
  if (here) {
    hits = [here];
    at = 0;
    select(); // what was found can be attached at once
    hits = [];
    at = -1;
  }
};

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-find-open]")) open();
  else if (event.target.closest("[data-find-close]")) close();
  else {
    const by = event.target.closest("[data-find-step]")?.dataset.findStep;
    if (by) step(Number(by));
  }
});
document.addEventListener("input", (event) => {
  if (!box() || event.target !== field()) return;
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE_MILLISECONDS);
});
document.addEventListener("keydown", (event) => {
  if (!isOpen() || hasModifier(event)) return;
  if (event.key === "Escape" && !isDialogOpen()) {
    event.preventDefault();
    close();
  } else if (event.key === "Enter" && event.target === field()) {
    event.preventDefault();
    step(event.shiftKey ? -1 : 1);
  }
});
document.addEventListener("review:key", (event) => {
  if (!isOpen() || !"nN".includes(event.detail.key)) return;
  event.preventDefault();
  step(event.detail.key === "n" ? 1 : -1);
});

document.addEventListener("review:ready", () => {
  hits = [];
  at = -1;
  if (CSS.highlights) for (const name of ["find", "find-here"]) CSS.highlights.delete(name);
});
