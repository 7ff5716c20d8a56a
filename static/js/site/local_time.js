// Keeps <time data-relative-time> fresh and shows the absolute time of the reader's own zone on hover.

import { onContent } from "../shared/events.js";

const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const dateOnly = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
/** @type {[number, string][]} */
const UNITS = [
  [86400, "d"],
  [3600, "h"],
  [60, "min"],
];

// The same words as relative_time in display.py, so that nothing jumps when the page has loaded.
/** @type {(moment: Date, now: number) => string} */
const words = (moment, now) => {
  const seconds = Math.round((now - moment.getTime()) / 1000);
  if (Math.abs(seconds) >= 30 * 86400) return dateOnly.format(moment);
  for (const [size, name] of UNITS) {
    const amount = Math.floor(Math.abs(seconds) / size);
    if (amount >= 1) return seconds > 0 ? `${amount} ${name} ago` : `in ${amount} ${name}`;
  }
  return seconds >= 0 ? "just now" : "in a moment";
};

const refresh = () => {
  const now = Date.now();
  for (const element of document.querySelectorAll("time[data-relative-time]")) {
    const moment = new Date(element.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    element.textContent = words(moment, now);
    element.title = absolute.format(moment);
  }
};

onContent(refresh);
setInterval(refresh, 30_000);
