// Lines pasted into a requirement or into the list become criteria; a single line is pasted as text.

import { isTyping } from "../../shared/keys.js";
import { one } from "../../shared/one.js";
import { rowsOf } from "../../shared/sortable_rows.js";
import { toast } from "../../shared/toast.js";
import { openOnly } from "../folds.js";
import { fill } from "../options.js";
import { fieldText, setField } from "./line.js";
import { insert, newRow, theList } from "./making.js";
import { pastedCriteria } from "./pasted_table.js";

/** @param {import("./pasted_table.js").PastedCriterion} pasted */
const rowOf = (pasted) => {
  const row = newRow();
  for (const name of /** @type {const} */ (["name", "requirement", "group"]))
    setField(row, name, pasted[name]);
  if (pasted.weight) setField(row, "weight", pasted.weight);
  one(`input.kind--${pasted.kind}`, row).checked = true;
  if (pasted.options.length > 0) fill(one("[data-option-list]", row), pasted.options);
  one("[data-fold]", row).removeAttribute("open");
  return row;
};

document.addEventListener("paste", (event) => {
  const target = /** @type {HTMLElement} */ (event.target);
  const form = document.getElementById("rubric-form");
  const isPlace = isTyping(target)
    ? target.matches(".criterion-row__requirement")
    : target.closest("[data-criteria]");
  if (!form?.contains(target) || !isPlace) return;
  const pasted = pastedCriteria(event.clipboardData?.getData("text/plain") ?? "");
  if (pasted.length === 0) return;
  event.preventDefault();
  const most = Number(theList().dataset.most);
  if (rowsOf(theList()).length + pasted.length > most) {
    toast(`A rubric has at most ${most} criteria: ${pasted.length} lines were not pasted.`, "error");
    return;
  }
  const here = target.closest("[data-criterion-row]");
  const rows = pasted.map(rowOf);
  const isEmpty = here && !fieldText(here, "requirement").trim() && !fieldText(here, "name").trim();
  insert(rows, here, { isReplaced: Boolean(isEmpty) });
  openOnly(rows[0]);
  one("summary", rows[0]).focus();
  toast(
    `Pasted ${rows.length} ${rows.length === 1 ? "criterion" : "criteria"}. Ctrl+Z takes them back.`,
    "success",
  );
});
