// data-dialog-open="id" opens a native <dialog>; data-dialog-close, and a click on the backdrop, closes it.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog-open]");
  if (opener) {
    document.querySelector(`dialog#${CSS.escape(opener.dataset.dialogOpen ?? "")}`)?.showModal();
    return;
  }
  if (event.target.closest("[data-dialog-close]")) {
    event.target.closest("dialog")?.close();
    return;
  }
  const isBackdrop =
    event.target instanceof HTMLDialogElement && event.target.open && isOutside(event.target, event);
  if (isBackdrop) event.target.close();
});

/** @type {(dialog: HTMLElement, point: MouseEvent) => boolean} */
function isOutside(dialog, { clientX, clientY }) {
  const box = dialog.getBoundingClientRect();
  return clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom;
}
