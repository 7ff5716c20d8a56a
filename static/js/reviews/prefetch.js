// The next item is here before its reader wants it: taken, fetched, and put in place when they go on.
//
// Says "review:ready" when a page is there to be worked on: after loading, and after each change of place. An item
// that was taken and not gone on to is given back when the reader leaves; where they never can, its place runs out.

import { tell } from "../shared/events.js";
import { one } from "../shared/one.js";
import { csrfToken, post } from "../shared/post.js";
import { keepTyped } from "../shared/typed_text.js";
import { form } from "./form.js";
import { beat } from "./time.js";

/** @typedef {{ url: string, back: string | null, html?: string }} Prefetched */

/** @type {Prefetched | null} */
let prefetched = null; // {url, back, html} of the item that comes next
/** @type {Promise<void> | null} */
let fetching = null;
let isGoingOn = false; // within the queue: what was prefetched is what comes next
let shown = location.pathname; // of the item that is here

const page = () => document.querySelector("[data-prefetch]");

/** @param {string} from */
const fetchNext = async (from) => {
  const answer = await post(from);
  if (!answer.ok) return;
  const said = await answer.json();
  if (!said.url) return;
  said.back ??= handedOver(said.url);
  if (page()?.dataset.prefetch !== from) {
    giveBack(said);
    return;
  }
  prefetched = said;
  const html = await fetch(said.url, { redirect: "manual", headers: { "X-Prefetch": "1" } });
  if (!html.ok || prefetched !== said) return;
  said.html = await html.text();
  document.documentElement.dataset.reviewPrefetch = "here"; // for those who measure
};

// What comes next is only known when everything that was left has arrived: an item of which the server does not
// know yet that it was submitted would come again.
const isIdle = () => tell("review:is-idle");

const prepare = () => {
  const from = page()?.dataset.prefetch;
  if (!from || prefetched || fetching || !isIdle()) return;
  fetching = fetchNext(from)
    .catch(() => {}) // offline or refused: then one waits for the next, as without this
    .finally(() => {
      fetching = null;
      if (page() && page()?.dataset.prefetch !== from) prepare();
    });
};

// What this tab prefetched on an earlier page of the queue is still its own to give back.
const HANDED_OVER = "rubricweb.prefetched";
/** @param {Prefetched} taken */
const handOver = ({ url, back }) => {
  try {
    sessionStorage.setItem(HANDED_OVER, JSON.stringify({ url, back }));
  } catch {
    // then its place runs out by itself
  }
};
/** @type {(url: string) => string | null} */
const handedOver = (url) => {
  try {
    const taken = JSON.parse(sessionStorage.getItem(HANDED_OVER) ?? "null");
    return taken?.url === url ? taken.back : null;
  } catch {
    return null;
  }
};

/** @param {Prefetched} taken */
const giveBack = ({ back }) => {
  if (!back) return;
  const data = new FormData();
  data.set("csrfmiddlewaretoken", csrfToken());
  navigator.sendBeacon(back, data);
};

// ── Going on ───────────────────────────────────────────────────────────────────────────────────
/** @type {(next: Prefetched, how: { isCounted: boolean }) => boolean} */
const goOn = ({ url, html = "" }, { isCounted }) => {
  const found = new DOMParser().parseFromString(html, "text/html");
  const main = found.getElementById("main");
  if (!main) return false;
  prefetched = null;
  keepTyped();
  const left = document.querySelector("[data-review-rail] [aria-current]")?.getAttribute("href");
  one("#main").replaceWith(document.adoptNode(main));
  document.title = found.title;
  history.pushState({ review: true }, "", url);
  shown = location.pathname;
  if (!isCounted) markLeft(left);
  tell("review:ready");
  const here = form();
  // No page was asked for: the server hears from here that it is open, and gives it to nobody. It may be gone: another
  // tab that prefetched the same one was left, and gave it back.
  beat().then((isThere) => {
    if (!isThere && here?.isConnected) tell("review:gone");
  });
  return true;
};

// The page was fetched before the one that was left had been submitted: its rail says so from now on.
/** @param {string | null | undefined} left */
const markLeft = (left) => {
  const line = document.querySelector(`[data-review-rail] a[href="${CSS.escape(left ?? "")}"]`);
  line?.classList.add("is-done");
  line?.querySelector(".rail__note")?.remove();
  count(1);
};

// What was refused after all counts no more.
/** @param {string} key */
const markReturned = (key) => {
  const line = document.querySelector(
    `[data-review-rail] a.is-done[href$="/reviews/${key.split(".").at(-1)}/"]`,
  );
  if (!line) return;
  line.classList.remove("is-done");
  count(-1);
};

/** @param {number} submitted */
const count = (submitted) => {
  for (const [name, by] of /** @type {[string, number][]} */ ([
    ["submitted", submitted],
    ["left", -submitted],
  ])) {
    const number = document.querySelector(`[data-rail-${name}]`);
    if (!number) continue;
    const now = Math.max(0, Number(number.getAttribute(`data-rail-${name}`)) + by);
    number.setAttribute(`data-rail-${name}`, String(now));
    number.textContent = now.toLocaleString("en");
  }
  const bar = document.querySelector(".panes__rail .progress");
  if (bar instanceof HTMLProgressElement) bar.value += submitted;
};

document.addEventListener("review:leave", (event) => {
  if (!prefetched?.html) return;
  if (goOn(prefetched, { isCounted: false })) event.preventDefault();
});

// "Next item" after a reveal, and on it.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || !event.target.matches(".review__next") || !prefetched?.html) return;
  if (goOn(prefetched, { isCounted: true })) event.preventDefault();
});

document.addEventListener("review:submitted", ({ detail }) => {
  if (detail.isHere) isGoingOn = true;
  else prepare();
});
document.addEventListener("review:returned", ({ detail }) => {
  markReturned(detail.key);
  prepare();
});
window.addEventListener("online", () => setTimeout(prepare, 1000));

document.addEventListener("review:ready", () => {
  isGoingOn = false;
  delete document.documentElement.dataset.reviewPrefetch;
  prepare();
});
document.addEventListener("DOMContentLoaded", () => tell("review:ready"));

// ── Leaving ────────────────────────────────────────────────────────────────────────────────────
// Forms and the rail lead on in the queue: giving back would race with the page that is being opened.
document.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) isGoingOn = event.target.closest("#main") !== null;
});
document.addEventListener("click", (event) => {
  if (!event.defaultPrevented && event.target.closest("a"))
    isGoingOn = event.target.closest("[data-review-rail]") !== null;
});
window.addEventListener("pagehide", () => {
  if (!prefetched) return;
  if (isGoingOn) handOver(prefetched);
  else giveBack(prefetched);
  prefetched = null;
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) prepare();
});
// A link to a place on this page says so too.
window.addEventListener("popstate", () => {
  if (location.pathname !== shown) location.reload();
});
