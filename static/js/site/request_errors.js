// A request that htmx could not finish is said aloud instead of leaving the page silent.

import { toast } from "../shared/toast.js";

/** @type {Record<number, string>} */
const REASONS = {
  401: "You are signed out. Nothing is lost: sign in in another tab, then go on here.",
  403: "Your role does not allow this.",
  404: "That is no longer there. Reload the page.",
  409: "Someone else changed this first. Reload the page to see their version.",
  429: "Too many requests. Wait a moment and try again.",
};

let silentUntil = 0; // a page that polls would otherwise repeat itself every two seconds
/** @param {string} words */
const sayOnce = (words) => {
  if (Date.now() < silentUntil) return;
  silentUntil = Date.now() + 30_000;
  toast(words, "error");
};

// Where the rest of the page says that there is no connection or that one is signed out, and what to do.
/** @param {HTMLElement} element */
const isQuiet = (element) => element.closest("[data-quiet]") !== null;

document.addEventListener("htmx:responseError", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (xhr.status === 401 && isQuiet(event.target)) return;
  if ((xhr.getResponseHeader("HX-Trigger") ?? "").includes('"toast"')) return; // the server has already said it
  const words = REASONS[xhr.status] ?? `The server could not do that (error ${xhr.status}). Try again.`;
  const isPoll = !requestConfig.triggeringEvent; // nobody did anything
  if (xhr.status === 401 && isPoll) sayOnce(words);
  else toast(words, "error");
});

document.addEventListener("htmx:sendError", (event) => {
  if (isQuiet(event.target)) return;
  sayOnce("No answer from the server. Once it is back, reload the page to see whether it was done.");
});
