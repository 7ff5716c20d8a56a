// A judge that is tried: its answers are put into the page as they come. Without this the page comes when all is told.

import { csrfToken } from "../shared/post.js";

/** @type {AbortController | null} */
let reading = null;

const LINES = "application/x-ndjson";

/** @param {string} id */
const place = (id) => document.getElementById(id);

/** @param {string} id @param {string} text */
const say = (id, text) => {
  const element = place(id);
  if (element) element.textContent = text;
};

/**
 * A notice in the place of problems, or none.
 * @param {string} text
 */
const problem = (text) => {
  const element = place("try-problem");
  if (!element) return;
  element.replaceChildren();
  if (!text) return;
  const notice = document.createElement("div");
  notice.className = "notice notice--warning";
  const body = document.createElement("p");
  body.className = "notice__body wrap-anywhere";
  body.textContent = text;
  notice.append(body);
  element.append(notice);
};

/**
 * One line of the answer: what stands at a place of the page now.
 * @param {HTMLFormElement} form
 * @param {{ place: string, html: string, after?: number | null }} line
 */
const put = (form, line) => {
  const element = place(line.place);
  if (element) element.innerHTML = line.html; // made by our templates, which escape what judges say
  const after = form.elements.namedItem("try_after");
  if (line.after && after instanceof HTMLInputElement) after.value = String(line.after);
};

/**
 * @param {HTMLFormElement} form
 * @param {ReadableStream<Uint8Array>} stream
 */
const readLines = async (form, stream) => {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line) put(form, JSON.parse(line));
  }
};

/**
 * Sends the form as it is typed, and reads what comes.
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
const tryNow = async (form, button) => {
  reading?.abort();
  const mine = new AbortController();
  reading = mine;
  const stop = document.querySelector("[data-try-stop]");
  if (stop instanceof HTMLElement) stop.hidden = false;
  button.setAttribute("aria-busy", "true");
  problem("");
  say("try-news", "The judge is asked.");
  try {
    const answer = await fetch(button.formAction, {
      method: "POST",
      body: new URLSearchParams(/** @type {any} */ (new FormData(form, button))),
      headers: { Accept: LINES, "X-CSRFToken": csrfToken() },
      redirect: "manual",
      signal: mine.signal,
    });
    const kind = answer.headers.get("Content-Type") ?? "";
    if (answer.ok && answer.body && kind.startsWith(LINES)) {
      await readLines(form, answer.body);
      say("try-news", "All answers are there.");
    } else if (kind.startsWith("application/json")) problem((await answer.json()).message);
    else problem("It could not be tried. Load the page again, and sign in if you are asked to.");
  } catch {
    if (!mine.signal.aborted)
      problem("The connection broke off. What was answered stays; try again for the rest.");
    else say("try-news", "Stopped.");
  } finally {
    for (const cell of document.querySelectorAll("[data-try-waiting]")) cell.textContent = "not waited for";
    if (reading === mine) {
      reading = null;
      if (stop instanceof HTMLElement) stop.hidden = true;
      button.removeAttribute("aria-busy");
    }
  }
};

// Before htmx, which would send the form to where it is saved.
document.addEventListener(
  "submit",
  (event) => {
    const button = event.submitter;
    if (!(button instanceof HTMLButtonElement) || button.dataset.try === undefined) return;
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    tryNow(event.target, button);
  },
  true,
);

document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-try-stop]")) reading?.abort();
});

// Enter in one of its fields tries; the form of the page would be kept.
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || !(field instanceof HTMLInputElement) || !field.name.startsWith("try_")) return;
  const button = [...(field.form?.elements ?? [])].find((one) => one.hasAttribute("data-try"));
  if (!(button instanceof HTMLButtonElement)) return;
  event.preventDefault();
  button.click();
});
