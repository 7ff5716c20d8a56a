// A [data-dropzone] around a file input: shows a file hovering over it, names the chosen one.

import { one } from "../shared/one.js";
import { toast } from "../shared/toast.js";

/** @param {{ target: HTMLElement }} event */
const zoneOf = (event) => event.target.closest?.("[data-dropzone]");
/** @param {DragEvent} event */
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

for (const name of /** @type {const} */ (["dragenter", "dragover"])) {
  document.addEventListener(name, (event) => {
    const zone = zoneOf(event);
    if (!zone || !carriesFiles(event)) return;
    event.preventDefault();
    zone.classList.add("is-over");
  });
}

document.addEventListener("dragleave", (event) => {
  const zone = zoneOf(event);
  if (zone && !zone.contains(/** @type {Node | null} */ (event.relatedTarget)))
    zone.classList.remove("is-over");
});

document.addEventListener("drop", (event) => {
  const zone = zoneOf(event);
  if (!zone || !carriesFiles(event)) return;
  event.preventDefault();
  zone.classList.remove("is-over");
  const input = one('input[type="file"]', zone);
  const files = event.dataTransfer?.files ?? null;
  if (files && files.length > 1 && !input.multiple) {
    toast("One file at a time.", "error");
    return;
  }
  input.files = files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

document.addEventListener("change", (event) => {
  const zone = event.target.matches('input[type="file"]') ? zoneOf(event) : null;
  const name = zone?.querySelector("[data-dropzone-name]");
  const files = event.target instanceof HTMLInputElement ? event.target.files : null;
  if (name && files)
    name.textContent = [...files].map((file) => `${file.name} · ${size(file.size)}`).join(", ");
});

/** @param {number} bytes */
const size = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
