// What an action said on a page that follows a run goes when the run has moved on; an error stays until it was read.
document.addEventListener("run:moved", () => {
  const messages = document.getElementById("messages");
  for (const notice of messages?.querySelectorAll(".notice:not(.notice--error)") ?? []) notice.remove();
  if (messages?.childElementCount === 0) messages.remove();
});
