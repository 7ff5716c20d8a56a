// "line 12: …" in a list of faults becomes a button that puts the cursor on that line of the source.

/** @type {(source: HTMLTextAreaElement, number: number) => void} */
const select = (source, number) => {
  const lines = source.value.split("\n");
  const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
  source.focus();
  source.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  const height = parseFloat(getComputedStyle(source).lineHeight);
  source.scrollTop = Math.max(0, (number - 4) * height);
};

document.addEventListener("DOMContentLoaded", () => {
  const source = document.querySelector("textarea#source");
  for (const cell of document.querySelectorAll(".faults__place")) {
    const words = cell.textContent.trim();
    const line = /^line (\d+)/.exec(words);
    if (!line || !source) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "faults__line";
    button.textContent = words;
    button.addEventListener("click", () => select(source, Number(line[1])));
    cell.replaceChildren(button);
  }
});
