// Where the words at the rules of a chart stand, so that none covers another.

const ROW_GAP = 6;
const LEAST_LETTERS = 5;

/**
 * @typedef {object} Placed
 * @property {number} row from the top
 * @property {string} text cut short where there is not room for all of it
 */

/**
 * For each label, which begins at its `x`, its place; null for those that find no room in any of the rows.
 * @param {readonly { x: number, text: string }[]} labels from left to right
 * @param {{ right: number, longest: number, rows: number, widthOf: (text: string) => number }} room
 * @returns {(Placed | null)[]}
 */
export const placeLabels = (labels, { right, longest, rows, widthOf }) => {
  const ends = Array.from({ length: rows }, () => -Infinity);
  return labels.map(({ x, text }) => {
    const row = ends.findIndex((end) => end + ROW_GAP <= x);
    const short = row < 0 ? "" : shortened(text, Math.min(longest, right - x), widthOf);
    if (!short) return null;
    ends[row] = x + widthOf(short);
    return { row, text: short };
  });
};

/** @type {(text: string, room: number, widthOf: (text: string) => number) => string} */
const shortened = (text, room, widthOf) => {
  if (widthOf(text) <= room) return text;
  for (let letters = text.length - 1; letters >= LEAST_LETTERS; letters -= 1) {
    const short = `${text.slice(0, letters).trimEnd()}…`;
    if (widthOf(short) <= room) return short;
  }
  return "";
};
