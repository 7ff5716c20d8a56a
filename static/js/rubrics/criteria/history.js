// Undo and redo of all that is done to a rubric's form, by keys and by buttons. What is saved stays undoable.
//
// A state is which elements stand in which list, and what every field says. Elements that were removed are kept, so
// that a row comes back as it was.

import { hasModifier, isTyping } from "../../shared/keys.js";
import { one } from "../../shared/one.js";
import { describe } from "./line.js";
import { theList } from "./making.js";

const MOST = 100; // states that are kept
const PAUSE_MILLISECONDS = 1_000; // typing in one field without such a pause is one step

const LISTS = "[data-sortable-rows], .answering__params, [data-fold]";
const DERIVED = "[data-sortable-order], [name=revision], [name=csrfmiddlewaretoken]";

/** @typedef {{ lists: Map<Element, ChildNode[]>, values: Map<Field, string | boolean> }} FormState */

const form = () => /** @type {HTMLFormElement} */ (one("#rubric-form"));

/** @param {Field} field */
const isTicked = (field) => field.type === "checkbox" || field.type === "radio";

/** @returns {FormState} */
const take = () => {
  const fields = /** @type {Field[]} */ ([...form().elements]).filter(
    (field) => field.name && !field.matches(`button, fieldset, ${DERIVED}`) && form().contains(field),
  );
  return {
    lists: new Map([...form().querySelectorAll(LISTS)].map((list) => [list, [...list.childNodes]])),
    values: new Map(
      fields.map((field) => [field, isTicked(field) ? /** @type {any} */ (field).checked : field.value]),
    ),
  };
};

/** @type {(left: ChildNode[], right: ArrayLike<ChildNode>) => boolean} */
const areSame = (left, right) =>
  left.length === right.length && left.every((node, index) => node === right[index]);

/** @type {(left: FormState, right: FormState) => boolean} */
const isSame = (left, right) =>
  left.values.size === right.values.size &&
  [...left.values].every(([field, value]) => right.values.get(field) === value) &&
  [...left.lists].every(([list, nodes]) => areSame(nodes, right.lists.get(list) ?? []));

/** @type {FormState[]} */
let past = [];
/** @type {FormState[]} */
let future = [];
/** @type {FormState | null} */
let current = null;
/** @type {Element | null} */
let typedIn = null; // the field of the last step, while it may go on
let typedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
let isApplying = false;

const say = () => {
  one("button[data-undo]").disabled = past.length === 0;
  one("button[data-redo]").disabled = future.length === 0;
};

const begin = () => {
  if (!document.getElementById("rubric-form")) return;
  [past, future, current, typedIn] = [[], [], take(), null];
  say();
};

/** What is there changed without anything being done to it: no step, and nothing to undo. */
export const rebase = () => {
  current = take();
};

/** @param {Element | null} field */
const note = (field) => {
  clearTimeout(waiting);
  waiting = undefined;
  const now = take();
  if (current && isSame(current, now)) return;
  const goesOn = field !== null && field === typedIn && Date.now() - typedAt < PAUSE_MILLISECONDS;
  if (current && !goesOn) past = [...past, current].slice(-MOST);
  [future, current, typedIn, typedAt] = [[], now, field, Date.now()];
  say();
};

// Once everything that hears of the change has done its part.
/** @param {Element | null} field */
const noteSoon = (field) => {
  if (isApplying) return;
  if (waiting && field !== typedIn) note(null);
  clearTimeout(waiting);
  waiting = setTimeout(() => note(field));
};

/** @type {(from: FormState, to: FormState) => void} */
const apply = (from, to) => {
  isApplying = true;
  /** @type {Element[]} */
  const changed = [];
  for (const [list, nodes] of to.lists) {
    if (areSame(nodes, list.childNodes)) continue;
    changed.push(list, ...nodes.filter((node) => !from.lists.get(list)?.includes(node)).map(asElement));
    list.replaceChildren(...nodes);
    if (list instanceof HTMLDetailsElement)
      list.open = list.querySelector("[data-lean]") === null && list.open;
  }
  for (const [field, value] of to.values) {
    if ((isTicked(field) ? /** @type {any} */ (field).checked : field.value) === value) continue;
    if (typeof value === "boolean") /** @type {any} */ (field).checked = value;
    else field.value = value;
    changed.push(field);
  }
  for (const row of theList().querySelectorAll("[data-criterion-row]")) describe(row);
  for (const list of changed)
    if (list.matches("[data-option-list]"))
      list.dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
  theList().dispatchEvent(new CustomEvent("rows:changed", { bubbles: true }));
  isApplying = false;
  show(changed);
};

/** @param {ChildNode} node */
const asElement = (node) => (node instanceof Element ? node : theList());

// What changed is seen; who pressed a key in something that is gone goes on in the list.
/** @param {Element[]} changed */
const show = (changed) => {
  const rows = changed.map((each) => each.closest("[data-criterion-row]")).filter((row) => row?.isConnected);
  const row = /** @type {HTMLElement | undefined} */ (rows[0] ?? undefined);
  (row ?? theList()).scrollIntoView({ block: "nearest" });
  if (document.activeElement === document.body) one("summary", row ?? theList()).focus();
};

/** @type {(from: FormState[], to: FormState[], word: string) => void} */
const go = (from, to, word) => {
  if (waiting) note(typedIn);
  const state = from.pop();
  if (!state || !current) return;
  to.push(current);
  const before = current;
  [current, typedIn] = [state, null];
  apply(before, state);
  current = take();
  one("[data-save-announced]").textContent = word;
  say();
};

export const undo = () => go(past, future, "Undone");
export const redo = () => go(future, past, "Redone");

document.addEventListener("DOMContentLoaded", begin);
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "editor") begin();
  else if (event.target.matches(".answering__params")) rebase(); // part of choosing the check
});

document.addEventListener("input", (event) => {
  if (event.target.closest("#rubric-form")) noteSoon(isTicked(event.target) ? null : event.target);
});
for (const name of /** @type {const} */ (["rows:changed", "rows:reordered"]))
  document.addEventListener(name, () => noteSoon(null));

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-undo]")) undo();
  if (event.target.closest("[data-redo]")) redo();
});

// In a field the browser undoes what was typed there last.
document.addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  if (!hasModifier(event) || event.altKey || (key !== "z" && key !== "y")) return;
  if (!document.getElementById("rubric-form")) return;
  if (isTyping(event.target) && (event.target === typedIn || !event.target.closest("#rubric-form"))) return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) redo();
  else undo();
});
