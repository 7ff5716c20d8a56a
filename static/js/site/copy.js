// data-copy="selector" copies that element's text or value; data-copy-text="…" copies the words themselves.

import { toast } from "../shared/toast.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const source = button.dataset.copy ? document.querySelector(button.dataset.copy) : null;
  const text = source ? (isField(source) ? source.value : source.textContent) : button.dataset.copyText;
  try {
    await navigator.clipboard.writeText(text ?? "");
    toast("Copied", "success");
  } catch {
    // Without https the clipboard is closed to scripts: select the text, so one key copies it.
    if (source) selectText(source);
    toast("The browser did not allow copying; select the text and press Ctrl+C.", "warning");
  }
});

/** @type {(element: Element) => element is HTMLInputElement | HTMLTextAreaElement} */
const isField = (element) => element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;

/** @param {HTMLElement} element */
function selectText(element) {
  if (isField(element)) element.select();
  else getSelection()?.selectAllChildren(element);
}
