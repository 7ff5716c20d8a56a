// Several criteria at once: ticked by the boxes, Shift+click or x; then a group, a weight, copies, or none of them.

import { areSingleKeysOn, hasModifier, isTyping } from "../../shared/keys.js";
import { one } from "../../shared/one.js";
import { rowsOf } from "../../shared/sortable_rows.js";
import { toast } from "../../shared/toast.js";
import { numberIn } from "../points.js";
import { fieldText, setField } from "./line.js";
import { changed, copyOf, insert, keepIndex, theList } from "./making.js";

const rows = () => rowsOf(theList()).filter((row) => row.matches("[data-criterion-row]"));
/** @param {HTMLElement} row */
const boxOf = (row) => one("input[data-row-select]", row);
const selected = () => rows().filter((row) => boxOf(row).checked);

const bar = () => one("[data-selected]");

const show = () => {
  const count = selected().length;
  bar().hidden = count === 0;
  one("[data-selected-count]").textContent = `${count} selected`;
  const all = one("input[data-row-select-all]");
  all.checked = count > 0 && count === rows().length;
  all.indeterminate = count > 0 && !all.checked;
};

/** @param {boolean} isOn */
const selectAll = (isOn) => {
  for (const row of rows()) boxOf(row).checked = isOn;
  show();
};

/** @type {HTMLElement | null} */
let last = null; // where a range begins

/** @type {(row: HTMLElement, isRange: boolean) => void} */
const select = (row, isRange) => {
  const all = rows();
  if (isRange && last?.isConnected) {
    const ends = [all.indexOf(last), all.indexOf(row)].sort((a, b) => a - b);
    for (const each of all.slice(ends[0], ends[1] + 1)) boxOf(each).checked = boxOf(row).checked;
  }
  last = row;
  show();
};

// Weights as people write them: 0.1 × 3 is 0.3.
/** @param {number} number */
const plain = (number) => String(Number(number.toPrecision(12)));

/** @type {Record<string, (chosen: HTMLElement[]) => string>} what each button does, and says */
const ACTS = {
  group: (chosen) => {
    const group = one("input[data-selected-group]").value.trim();
    for (const row of chosen) setField(row, "group", group);
    return group ? `Group “${group}” set.` : "Group taken away.";
  },
  weight: (chosen) => {
    const weight = numberIn(one("input[data-selected-weight]").value);
    if (weight === null) return "";
    for (const row of chosen) setField(row, "weight", plain(weight));
    return `Weight ${plain(weight)} set.`;
  },
  scale: (chosen) => {
    const factor = numberIn(one("input[data-selected-weight]").value);
    if (factor === null) return "";
    for (const row of chosen) {
      const weight = numberIn(fieldText(row, "weight"));
      if (weight !== null) setField(row, "weight", plain(weight * factor));
    }
    return `Weights multiplied by ${plain(factor)}.`;
  },
  duplicate: (chosen) => {
    const copies = chosen.map(copyOf);
    for (const copy of copies) one("[data-fold]", copy).removeAttribute("open");
    insert(copies, chosen.at(-1));
    return `${chosen.length} duplicated.`;
  },
  remove: (chosen) => {
    for (const row of chosen) {
      keepIndex(row);
      boxOf(row).checked = false;
      row.remove();
    }
    const add = /** @type {HTMLElement | null} */ (document.querySelector("[data-row-add]"));
    (rows()[0]?.querySelector("summary") ?? add)?.focus();
    return `${chosen.length} removed.`;
  },
};

/** @param {string} name */
const act = (name) => {
  const chosen = selected();
  const words = ACTS[name](chosen);
  if (!words) {
    toast("Type a number first.", "warning");
    one("input[data-selected-weight]").focus();
    return;
  }
  changed();
  toast(`${words} Ctrl+Z takes it back.`, "success");
};

document.addEventListener("click", (event) => {
  const row = event.target.closest("[data-criterion-row]");
  if (row && event.target.matches("[data-row-select]")) select(row, event.shiftKey);
  if (event.target.matches("input[data-row-select-all]"))
    selectAll(one("input[data-row-select-all]").checked);
  const button = event.target.closest("button[data-selected-act]");
  if (button?.dataset.selectedAct === "none") selectAll(false);
  else if (button) act(button.dataset.selectedAct ?? "");
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.matches("[data-selected] input")) {
    event.preventDefault();
    act(event.target.matches("[data-selected-group]") ? "group" : "weight");
  }
  const row = event.target.closest?.("#rubric-form [data-criterion-row]");
  if (event.key.toLowerCase() !== "x" || !row || isTyping(event.target)) return;
  if (hasModifier(event) || !areSingleKeysOn()) return;
  event.preventDefault();
  boxOf(row).checked = !boxOf(row).checked;
  select(row, event.shiftKey);
});

document.addEventListener("rows:changed", (event) => event.target === theList() && show());
