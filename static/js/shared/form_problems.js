// From what a form was refused for to its fields. The address stays as it is: a form that is sent from a place within
// its page comes back to that place, and not to what it is refused for then.

document.addEventListener("click", (event) => {
  const link = event.target.closest("a");
  const field =
    link?.closest("[data-problems]") && document.getElementById(decodeURIComponent(link.hash.slice(1)));
  if (!field) return;
  event.preventDefault();
  field.scrollIntoView({ block: "center" });
  field.focus({ preventScroll: true });
});
