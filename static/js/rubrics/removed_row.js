// A row that was removed leaves a line behind that brings it back.

/**
 * `changed(list)` is called now and after an undo, which puts the focus into `field` of the row.
 * @type {(row: HTMLElement, text: string, field: HTMLElement, changed: (list: HTMLElement) => void) => void}
 */
export const replaceWithUndo = (row, text, field, changed) => {
  const list = row.parentElement;
  if (!list) return;
  const place = document.createElement("li");
  place.className = "sortable__row criterion-row--removed";
  const words = document.createElement("span");
  words.textContent = text;
  const back = document.createElement("button");
  back.type = "button";
  back.className = "button button--small";
  back.textContent = "Undo";
  back.addEventListener("click", () => {
    place.replaceWith(row);
    changed(list);
    field.focus();
  });
  place.append(words, back);
  row.replaceWith(place);
  changed(list);
  back.focus();
};
