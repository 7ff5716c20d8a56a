// What somebody else changed in the draft meanwhile is taken into the form; where one is writing, one goes on.

import { one } from "../../shared/one.js";
import { changed, disarm, theList } from "./making.js";

/** @param {string} html */
const rowOf = (html) => {
  const holder = document.createElement("ol");
  holder.innerHTML = html;
  const row = one("[data-criterion-row]", holder);
  disarm(row);
  return row;
};

/** @param {import("../autosave.js").MergedDraft} merged */
export const takeIn = ({ revision, rows, order, fields }) => {
  const focused = document.activeElement?.closest("#rubric-form input, #rubric-form textarea");
  const place = /** @type {HTMLInputElement | null} */ (focused);
  const [from, to] = [place?.selectionStart, place?.selectionEnd];
  const now = order.map((index) => {
    const before = document.getElementById(`criterion-${index}`);
    if (rows[index] === undefined && before) return before;
    const row = rowOf(rows[index]);
    // Where it was open its fields are needed; where it was not, they come when it is opened.
    if (before?.querySelector("[data-fold]")?.hasAttribute("open"))
      one("[data-fold]", row).setAttribute("open", "");
    return row;
  });
  theList().replaceChildren(...now);
  for (const index of Object.keys(rows)) htmx.process(one(`#criterion-${index}`));
  for (const [name, value] of Object.entries(fields)) {
    const field = /** @type {Field | null} */ (document.querySelector(`#rubric-form [name="${name}"]`));
    if (field instanceof HTMLInputElement && typeof value === "boolean") field.checked = value;
    else if (field) field.value = String(value);
  }
  one("input[name=revision]", one("#rubric-form")).value = String(revision);
  changed();
  if (!place) return;
  const again = /** @type {HTMLInputElement | null} */ (
    document.querySelector(`#rubric-form [name="${place.name}"]`)
  );
  again?.focus();
  if (again && from != null && to != null) again.setSelectionRange(from, to);
};
