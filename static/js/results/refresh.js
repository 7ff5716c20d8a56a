// A page with [data-refresh] renews itself every so many seconds, in its place: what is open, where one has scrolled and
// what has the focus stay. One request at a time, none while nobody can see the page or a menu is open.

const line = () => document.querySelector("[data-refresh]");

let renewed = Date.now();
let isAsking = false;

/** @param {boolean} failed */
const tell = (failed) => {
  const words = line()?.querySelector("[data-refresh-failed]");
  if (words) words.hidden = !failed;
};

const renew = async () => {
  isAsking = true;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    // Who was signed out is led elsewhere: that page is not shown in the place of this one.
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    const there = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    const here = document.querySelector("main");
    if (!there || !here) throw new Error("no page");
    Idiomorph.morph(here, there, { morphStyle: "outerHTML" });
    htmx.process(here);
    tell(false);
  } catch {
    tell(true);
  } finally {
    renewed = Date.now();
    isAsking = false;
  }
};

// Looked at more often than renewed: a machine that slept, or a page that was hidden, is behind by more than its time.
const look = () => {
  const seconds = Number(line()?.dataset.refresh);
  if (!seconds || isAsking || document.hidden || document.querySelector("[data-menu][open]")) return;
  if (Date.now() - renewed >= seconds * 1000) renew();
};

setInterval(look, 5_000);
document.addEventListener("visibilitychange", look);
