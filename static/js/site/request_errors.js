// A request that htmx could not finish is said aloud instead of leaving the page silent.

import { toast } from "../shared/toast.js";

/** @type {Record<number, string>} */
const REASONS = {
  401: "You are signed out. Nothing is lost: sign in in another tab, then try again.",
  403: "Your role does not allow this.",
  404: "That is no longer there. Reload the page.",
  409: "Someone else changed this first. Reload the page to see their version.",
  429: "Too many requests. Wait a moment and try again.",
};

document.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if ((xhr.getResponseHeader("HX-Trigger") ?? "").includes('"toast"')) return; // the server has already said it
  toast(REASONS[xhr.status] ?? `The server could not do that (error ${xhr.status}). Try again.`, "error");
});

let silentUntil = 0; // a page that polls would otherwise repeat itself every two seconds
document.addEventListener("htmx:sendError", () => {
  if (Date.now() < silentUntil) return;
  silentUntil = Date.now() + 30_000;
  toast("No answer from the server. Once it is back, reload the page to see whether it was done.", "error");
});
