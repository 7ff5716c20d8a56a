// What htmx and forms send carries the newest token: signing in again in another tab outdates the page's own.
// It also says whose page it is, since somebody else may be the one who signed in there.

import { csrfToken } from "./post.js";

const FIELD = "csrfmiddlewaretoken";

document.addEventListener("htmx:configRequest", (event) => {
  event.detail.headers["X-CSRFToken"] = csrfToken();
  event.detail.headers["X-Person"] = document.body.dataset.person ?? "";
});

document.addEventListener("formdata", (event) => {
  if (!event.formData.has(FIELD)) return;
  event.formData.set(FIELD, csrfToken());
  event.formData.set("page_of_person", document.body.dataset.person ?? "");
});
