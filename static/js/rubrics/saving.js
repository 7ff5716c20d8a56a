// Keeps a rubric's draft while it is typed (autosave.js), says in words how far that is, and asks before anything is
// lost. The buttons save as well: what the server refuses then, it shows at its fields.

import { tell } from "../shared/events.js";
import { one } from "../shared/one.js";
import { toast } from "../shared/toast.js";
import { Autosave, sendDraft } from "./autosave.js";
import { takeIn } from "./criteria/merged.js";

const FORMS = "[data-rubric-form], [data-source-form]";
const theForm = () => /** @type {HTMLFormElement} */ (one(FORMS));

let isSubmitting = false; // htmx sends the form itself: of two saves at once one would count as somebody else's
let submitted = 0; // the edits it sent

const collect = () => {
  const form = theForm();
  const data = new FormData(form);
  data.delete("csrfmiddlewaretoken"); // the header's is newer
  for (const field of /** @type {Iterable<Field>} */ (form.elements))
    if (!form.contains(field)) data.delete(field.name); // the trial's, beside the form
  return new URLSearchParams(/** @type {[string, string][]} */ ([...data]));
};

const autosave = new Autosave(
  {
    collect,
    send: (body) => sendDraft(theForm().action, body),
    isHeld: () => isSubmitting || document.querySelector("[data-conflict]") !== null,
    settled: ({ stored, refused, notice, later, merged, body, marks }) => {
      const said = marks ?? stored?.marks;
      if (said) tell("source:marked", said);
      if (stored) {
        one("input[name=revision]", theForm()).value = String(stored.revision);
        const title = document.getElementById("rubric-title");
        if (title) title.textContent = stored.title;
        saySaved();
      } else if (merged) {
        if (String(collect()) === String(body)) {
          takeIn(merged);
          toast(merged.said);
        }
        autosave.touch();
      } else if (notice) {
        one("[data-save-bar]").insertAdjacentHTML("afterbegin", notice);
        say("conflict", "Not saved"); // the notice says the rest
      } else if (refused) announce("offline", `Not saved: ${refused}`);
      else if (later) sayLater(later);
    },
  },
  { isRefused: document.querySelector('[data-save-words][data-state="offline"]') !== null },
);

// ── The words about it ─────────────────────────────────────────────────────────────────────────
/** @type {(state: string, words: string | HTMLElement) => void} */
const say = (state, words) => {
  const place = one("[data-save-words]");
  place.dataset.state = state;
  place.replaceChildren(words);
};

// A screen reader hears what is new, not every save.
let heard = "";
/** @type {(state: string, ...words: (string | HTMLElement)[]) => void} */
const announce = (state, ...words) => {
  const line = document.createElement("span");
  line.append(...words);
  say(state, line);
  if (line.textContent === heard) return;
  heard = line.textContent;
  const spoken = document.createElement("span");
  spoken.textContent = heard;
  one("[data-save-announced]").replaceChildren(spoken);
};

const saySaved = () => {
  if (autosave.isUnsaved) {
    say("saving", "Saving…"); // typed meanwhile
    return;
  }
  const time = document.createElement("time");
  time.dateTime = new Date().toISOString();
  time.dataset.relativeTime = "";
  time.textContent = "just now";
  announce("saved", "Draft saved ", time);
};

/** @param {import("./autosave.js").Hindrance} why */
const sayLater = (why) => {
  if (why === "signed out") {
    const link = document.createElement("a");
    link.href = theForm().dataset.signIn ?? "";
    link.target = "_blank";
    link.textContent = "Sign in in another tab";
    announce("offline", "You are signed out. ", link, ", then save.");
  } else if (why === "offline") announce("offline", "Not saved: no connection. Trying again.");
  else announce("offline", "Not saved: the server does not answer as it should. Trying again.");
};

// ── While typing ───────────────────────────────────────────────────────────────────────────────
// What only selects is nothing to save.
/** @param {HTMLElement} field */
const isUnnamed = (field) => field.tagName === "INPUT" && !field.getAttribute("name");

/** @param {{ target: HTMLElement }} event */
const touch = (event) => {
  if (!event.target.closest(FORMS) || isUnnamed(event.target)) return;
  autosave.touch();
  if (one("[data-save-words]").dataset.state === "saved") say("saving", "Saving…");
};
for (const name of /** @type {const} */ (["input", "rows:changed", "rows:reordered"]))
  document.addEventListener(name, touch);

// A field is left: no need to wait for a pause.
document.addEventListener("focusout", (event) => {
  if (event.target.closest(FORMS) && !autosave.isFailing) autosave.save();
});

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") autosave.save();
  else autosave.retry(); // they may have signed in in another tab
});
window.addEventListener("pagehide", () => autosave.save());
window.addEventListener("online", () => autosave.retry());

// ── Leaving ────────────────────────────────────────────────────────────────────────────────────
window.addEventListener("beforeunload", (event) => autosave.isUnsaved && event.preventDefault());

// Who closes the editor right after the last word need not be asked: it is saved first.
let isLeaving = false;
document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.target || link.getAttribute("href")?.startsWith("#") || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (isLeaving || autosave.isFailing || !autosave.isUnsaved) return;
  event.preventDefault();
  isLeaving = true;
  await autosave.save();
  isLeaving = false;
  location.assign(link.href);
});

// ── The buttons ────────────────────────────────────────────────────────────────────────────────
let isPassing = false;

// In the capture phase, so that htmx does not see the form before everything typed is on the server.
document.addEventListener(
  "submit",
  async (event) => {
    const [form, button] = [event.target, event.submitter];
    if (!form.matches(FORMS)) return;
    if (isPassing) {
      if (form.matches("[data-source-form]")) autosave.storedElsewhere(); // another page comes
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    heard = ""; // who presses a button is told each time
    say("saving", "Saving…");
    let { stored, later, merged } = await autosave.press();
    if (merged) ({ stored, later } = await autosave.press());
    // A source is shown anew, with what is to be fixed in it.
    const isDone = stored && form.matches("[data-rubric-form]") && button?.getAttribute("name") === "save";
    if (later || isDone) return;
    // Later, as no form is submitted while it is being submitted.
    setTimeout(() => {
      isPassing = true;
      // A click tells htmx which button it was; requestSubmit would not.
      if (button) button.click();
      else form.requestSubmit();
      isPassing = false;
    });
  },
  true,
);

// Not when it is submitted: of two saves close together the second is sent once the first is answered.
document.addEventListener("htmx:beforeSend", (event) => {
  if (!event.target.matches(FORMS)) return;
  isSubmitting = true;
  submitted = autosave.edits;
});

document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.requestConfig.elt.matches(FORMS)) return;
  isSubmitting = false;
  autosave.schedule();
});

// What was typed while the answer was on its way is not what was saved.
document.addEventListener("rubric:saved", () => {
  document.querySelector("[data-conflict]")?.remove();
  autosave.storedElsewhere(submitted);
  saySaved();
});

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.xhr.getResponseHeader("HX-Redirect")) autosave.storedElsewhere();
});

for (const name of /** @type {const} */ (["htmx:sendError", "htmx:responseError"])) {
  document.addEventListener(name, (event) => {
    if (!event.target.matches(FORMS)) return;
    if (event.detail.xhr.status === 401) sayLater("signed out");
    else announce("offline", "Not saved. Try again.");
  });
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id !== "editor") return;
  // The form came back: saved, as before a publication that was refused, or not.
  if (one("[data-save-words]").dataset.state === "saved") autosave.storedElsewhere();
  document.getElementById("problems")?.focus();
});

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
  const form = document.querySelector(FORMS);
  if (!form) return;
  event.preventDefault();
  one("[data-save]", form).click();
});
