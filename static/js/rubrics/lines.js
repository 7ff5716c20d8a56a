// Numbers beside the lines of a source, and what is said of them: of a fault, of lint. A click goes to the line.

import { one } from "../shared/one.js";

/** @typedef {{ line: number, severity: string, text: string }} SourceMark */

const source = () => document.querySelector("textarea#source");

/** @param {number} number */
const go = (number) => {
  const field = source();
  if (!field) return;
  const lines = field.value.split("\n");
  const start = lines.slice(0, number - 1).reduce((sum, line) => sum + line.length + 1, 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  field.scrollTop = Math.max(0, (number - 4) * parseFloat(getComputedStyle(field).lineHeight));
};

/** @type {SourceMark[]} */
let marks = [];

const drawNumbers = () => {
  const field = source();
  if (!field) return;
  const gravest = new Map([...marks].reverse().map((mark) => [mark.line, mark.severity]));
  const numbers = field.value.split("\n").map((_, index) => {
    const number = document.createElement("span");
    number.textContent = String(index + 1);
    number.dataset.sourceLine = String(index + 1);
    number.dataset.severity = gravest.get(index + 1) ?? "";
    number.title = marks
      .filter((mark) => mark.line === index + 1)
      .map((mark) => mark.text)
      .join("\n");
    return number;
  });
  one("[data-source-lines]").replaceChildren(...numbers);
  one("[data-source-lines]").scrollTop = field.scrollTop;
};

/** @param {SourceMark} mark */
const itemOf = (mark) => {
  const item = document.createElement("li");
  item.className = `source-edit__mark source-edit__mark--${mark.severity}`;
  const words = document.createElement("span");
  words.dir = "auto";
  words.textContent = `${mark.severity}: ${mark.text}`;
  item.append(buttonOf(mark.line, `Line ${mark.line}`), " ", words);
  return item;
};

/** @type {(line: number, words: string) => HTMLButtonElement} */
const buttonOf = (line, words) => {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "faults__line";
  button.textContent = words;
  button.dataset.sourceLine = String(line);
  return button;
};

document.addEventListener("DOMContentLoaded", () => {
  if (!source()) return;
  marks = [...document.querySelectorAll("[data-source-marks] > li")].map((item) => ({
    line: Number(one("[data-source-line]", item).dataset.sourceLine),
    severity: /--(\w+)$/.exec(item.className)?.[1] ?? "",
    text: (one("[dir]", item).textContent ?? "").replace(/^\w+: /, ""),
  }));
  one("[data-source-marks]").replaceChildren(...marks.map(itemOf));
  for (const cell of document.querySelectorAll(".faults__place")) {
    const words = cell.textContent.trim();
    const line = /^line (\d+)/.exec(words);
    if (line) cell.replaceChildren(buttonOf(Number(line[1]), words));
  }
  drawNumbers();
  source()?.addEventListener("scroll", () => {
    one("[data-source-lines]").scrollTop = source()?.scrollTop ?? 0;
  });
});

document.addEventListener("input", (event) => event.target === source() && drawNumbers());

document.addEventListener("source:marked", (event) => {
  marks = event.detail;
  one("[data-source-marks]").replaceChildren(...marks.map(itemOf));
  drawNumbers();
});

document.addEventListener("click", (event) => {
  const line = event.target.closest("[data-source-line]")?.dataset.sourceLine;
  if (line) go(Number(line));
});
