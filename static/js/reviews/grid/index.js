// The table in which several items are answered: arrows walk, a key answers and goes on, each cell is saved at once.
//
// What is answered goes through the outbox, as on the page of one item: it waits on this device until the server has it.

import { areSingleKeysOn, hasModifier, isCtrlEnter, isDialogOpen, isHeld } from "../../shared/keys.js";
import { post } from "../../shared/post.js";
import { toast } from "../../shared/toast.js";
import { inWords, Outbox, SUBMIT } from "../outbox.js";

const BEAT_MILLISECONDS = 30_000;
const table = () => document.querySelector("table[data-grid]");
const rows = () => [...document.querySelectorAll("tr[data-row]")];
/** @param {Element} row */
const cells = (row) => /** @type {HTMLSelectElement[]} */ ([...row.querySelectorAll("select[data-cell]")]);
/** @param {string} key */
const rowOf = (key) => rows().find((row) => keyOf(row) === key);
/** @param {HTMLElement} row */
const keyOf = (row) => Outbox.key(table()?.dataset.person ?? "", row.dataset.row ?? "");

/** @type {(row: HTMLElement | undefined, text: string, isRefused?: boolean) => void} */
const say = (row, text, isRefused = false) => {
  const state = row?.querySelector("[data-row-state]");
  if (!state) return;
  state.textContent = text;
  state.classList.toggle("is-refused", isRefused);
};

const outbox = new Outbox({
  sending: (key) => say(rowOf(key), "Saving…"),
  waits: (why, count) => {
    for (const row of rows()) if (outbox.waiting(keyOf(row)).length) say(row, `${why}: waits here`);
    if (count && !document.querySelector("#toasts .toast"))
      toast(`${why}: changes wait on this device.`, "warning");
  },
  settled: (key, name, _entry, { saved, refused }) => {
    const row = rowOf(key);
    if (refused) {
      say(
        row,
        `Not ${name === SUBMIT ? "submitted" : "saved"}: ${refused.message} Open the item's page.`,
        true,
      );
      outbox.forget(key, name);
    } else if (name === SUBMIT && saved) {
      if (saved.differs)
        toast(saved.differs[0], "info", { url: saved.differs[1], words: "See and answer", key: "d" });
      if (row) leave(row);
    } else say(row, "Saved");
  },
  done: () => {},
});

/** @param {HTMLElement} row */
const leave = (row) => {
  const next = /** @type {HTMLElement | null} */ (row.nextElementSibling ?? row.previousElementSibling);
  const hadFocus = row.contains(document.activeElement);
  row.remove();
  if (!next) location.reload();
  else if (hadFocus) cells(next)[0]?.focus();
};

/** @param {HTMLSelectElement} cell */
const save = (cell) => {
  const row = cell.closest("tr[data-row]");
  if (!row) return;
  const { cell: id, url = "", reason = "", known = "" } = cell.dataset;
  const fields = { verdict: cell.value, reason, known };
  outbox.keep(keyOf(row), `criterion:${id}`, { url, fields, item: row.dataset.item });
  const seen = inWords({ ...fields, evidence: JSON.stringify(JSON.parse(known).evidence) });
  cell.dataset.known = seen;
  for (const field of row.querySelectorAll(`input[name="known_${id}"]`)) field.value = seen;
  outbox.flush();
};

/** @type {(cell: HTMLSelectElement, down: number, right: number) => void} */
const move = (cell, down, right) => {
  const all = rows();
  const row = cell.closest("tr[data-row]");
  if (!row) return;
  const at = cells(row).indexOf(cell);
  const target = all[all.indexOf(row) + down];
  if (target) cells(target)[Math.min(at + right, cells(target).length - 1)]?.focus();
};

const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
});

document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.("tr[data-row]");
  if (!row || isDialogOpen() || isHeld(event)) return;
  if (isCtrlEnter(event)) {
    event.preventDefault();
    row.querySelector("form[data-grid-form]")?.requestSubmit();
    return;
  }
  const cell = event.target.closest("select[data-cell]");
  if (!cell || hasModifier(event)) return;
  if (ARROWS[event.key]) {
    event.preventDefault();
    move(cell, ...ARROWS[event.key]);
    return;
  }
  if (!areSingleKeysOn()) return;
  const option = [...cell.options].find((one) => one.dataset.keys?.split(" ").includes(event.key));
  if (!option) return;
  event.preventDefault();
  cell.value = option.value;
  save(cell);
  move(cell, 0, 1);
});

document.addEventListener("change", (event) => {
  if (event.target instanceof HTMLSelectElement && event.target.matches("[data-cell]")) save(event.target);
});

// The item of the row somebody is in stands beside the table.
document.addEventListener("focusin", (event) => {
  const row = event.target.closest("tr[data-row]");
  if (!row || row.classList.contains("is-open")) return;
  for (const each of rows()) each.classList.toggle("is-open", each === row);
  if (!event.target.matches("[data-open]")) row.querySelector("[data-open]")?.click();
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-grid-form]")) return;
  event.preventDefault();
  const row = event.target.closest("tr[data-row]");
  const open = row && cells(row).filter((cell) => !cell.value);
  if (!row) return;
  if (open?.length) {
    say(row, `${open.length} still open`, true);
    open[0].focus();
    return;
  }
  /** @type {ReviewFields} */
  const fields = { action: "submit" };
  for (const [name, value] of new FormData(event.target)) {
    if (typeof value === "string" && name !== "csrfmiddlewaretoken") fields[name] = value;
  }
  outbox.keep(keyOf(row), SUBMIT, {
    url: event.target.getAttribute("action"),
    fields,
    item: row.dataset.item,
  });
  outbox.flush();
});

document.addEventListener("DOMContentLoaded", () => {
  outbox.person = table()?.dataset.person ?? null;
  if (outbox.person && outbox.isAnythingWaiting()) outbox.flush();
});
window.addEventListener("online", () => outbox.person && outbox.flushAnew());
window.addEventListener("beforeunload", (event) => {
  if (outbox.wouldLose()) event.preventDefault();
});
setInterval(() => {
  if (document.visibilityState !== "visible") return;
  for (const row of rows()) post(row.dataset.heartbeat ?? "").catch(() => {});
}, BEAT_MILLISECONDS);
