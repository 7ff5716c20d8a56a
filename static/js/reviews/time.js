// How long the page, and each criterion on it, was in front of its reader; and the beat that keeps their place.
//
// Counts only while the page is visible, into the form's own fields, so that every save takes it along.

import { post } from "../shared/post.js";
import { form } from "./form.js";

const TICK_MILLISECONDS = 1000;
const LONGEST_TICK_SECONDS = 3; // after a sleep of the machine nobody was reading
const BEAT_MILLISECONDS = 30_000;
const isVisible = () => document.visibilityState === "visible";

/** @type {(field: Element | RadioNodeList | null, seconds: number) => void} */
const add = (field, seconds) => {
  if (field instanceof HTMLInputElement)
    field.value = (Number.parseFloat(field.value || "0") + seconds).toFixed(1);
};

let last = performance.now();
setInterval(() => {
  const now = performance.now();
  const seconds = Math.min((now - last) / 1000, LONGEST_TICK_SECONDS);
  last = now;
  const here = form();
  if (!here?.dataset.heartbeat || !isVisible()) return;
  add(here.elements.namedItem("seconds"), seconds);
  const id = here.querySelector(".review__criterion.is-active")?.dataset.criterion;
  if (id) add(here.elements.namedItem(`seconds_${id}`), seconds);
}, TICK_MILLISECONDS);

/**
 * Says that its reader is at the review that is open; gives whether there is such a review, as far as is known.
 * @returns {Promise<boolean>}
 */
export const beat = async () => {
  const here = form();
  if (!here?.dataset.heartbeat || !isVisible()) return true;
  try {
    const answer = await post(here.dataset.heartbeat);
    if (!answer.ok) return answer.status !== 404;
    const { holds_place: holds } = await answer.json();
    const sign = here.querySelector("[data-review-place]");
    if (sign) sign.hidden = holds;
  } catch {
    // offline: the next beat tells
  }
  return true;
};
setInterval(beat, BEAT_MILLISECONDS);
document.addEventListener("visibilitychange", beat);
