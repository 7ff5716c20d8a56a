// A request that htmx could not finish is said aloud instead of leaving the page silent.
(() => {
  const say = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { level: "error", text } }));

  const REASONS = {
    401: "You have been signed out. Reload the page and sign in; what you typed is still here.",
    403: "Your role does not allow this.",
    404: "That is no longer there. Reload the page.",
    409: "Someone else changed this first. Reload the page to see their version.",
    429: "Too many requests. Wait a moment and try again.",
  };

  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = event.detail;
    if ((xhr.getResponseHeader("HX-Trigger") ?? "").includes('"toast"')) return; // the server has already said it
    say(REASONS[xhr.status] ?? `The server could not do that (error ${xhr.status}). Try again.`);
  });

  let silentUntil = 0; // a page that polls would otherwise repeat itself every two seconds
  document.addEventListener("htmx:sendError", () => {
    if (Date.now() < silentUntil) return;
    silentUntil = Date.now() + 30_000;
    say("No connection to the server. Nothing was changed.");
  });
})();
