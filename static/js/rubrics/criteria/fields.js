// The fields of folded rows in a long rubric: they come when their row is opened.

import { one } from "../../shared/one.js";
import { post } from "../../shared/post.js";
import { renumber } from "../../shared/sortable_rows.js";
import { toast } from "../../shared/toast.js";
import { refreshPoints } from "../points.js";
import { rebase } from "./history.js";
import { isLean } from "./line.js";
import { disarm, theList } from "./making.js";

/**
 * Gets the fields of those rows that have none on the page; what cannot be fetched stays as it is, and says so.
 * @param {HTMLElement[]} rows
 */
export const fetchFields = async (rows) => {
  const lean = rows.filter(isLean);
  if (lean.length === 0) return;
  const body = new URLSearchParams();
  for (const row of lean)
    for (const field of row.querySelectorAll("input[name]")) body.append(field.name, field.value);
  try {
    const answer = await post(theList().dataset.rowsUrl ?? "", { body });
    if (!answer.ok) throw new Error(String(answer.status));
    put(new DOMParser().parseFromString(await answer.text(), "text/html"), lean);
  } catch {
    toast("The criterion could not be opened. Try again.", "error");
  }
};

/** @type {(answer: Document, rows: HTMLElement[]) => void} */
const put = (answer, rows) => {
  for (const row of rows) {
    const fields = answer.querySelector(`[data-fields-of="${row.id}"] > .criterion-row__fields`);
    const place = row.querySelector("[data-lean]");
    if (!fields || !place) continue;
    disarm(fields);
    place.replaceWith(fields);
    htmx.process(one("[data-fold]", row));
  }
  renumber(theList());
  for (const list of theList().querySelectorAll("[data-option-list]")) renumber(list);
  refreshPoints();
  rebase();
};
