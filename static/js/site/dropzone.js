// A [data-dropzone] around a file input: shows a file hovering over it, names the chosen one.

const zoneOf = (event) => event.target.closest?.("[data-dropzone]");
const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");

for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    const zone = zoneOf(event);
    if (!zone || !carriesFiles(event)) return;
    event.preventDefault();
    zone.classList.add("is-over");
  });
}

document.addEventListener("dragleave", (event) => {
  const zone = zoneOf(event);
  if (zone && !zone.contains(event.relatedTarget)) zone.classList.remove("is-over");
});

document.addEventListener("drop", (event) => {
  const zone = zoneOf(event);
  if (!zone || !carriesFiles(event)) return;
  event.preventDefault();
  zone.classList.remove("is-over");
  const input = zone.querySelector('input[type="file"]');
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

document.addEventListener("change", (event) => {
  const zone = event.target.matches('input[type="file"]') ? zoneOf(event) : null;
  const name = zone?.querySelector("[data-dropzone-name]");
  if (name)
    name.textContent = [...event.target.files].map((file) => `${file.name} · ${size(file.size)}`).join(", ");
});

const size = (bytes) =>
  bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
