// What tells the series of a chart apart where five colours do not: every five series get another mark and dash.

/**
 * @typedef {object} Look of a line, in CSS pixels
 * @property {string} mark the path of its points, around 0 0
 * @property {number[]} dash of its line; none for a solid one
 */

/** @type {readonly Look[]} */
const LOOKS = [
  { mark: "M-3.5 0A3.5 3.5 0 1 0 3.5 0A3.5 3.5 0 1 0 -3.5 0Z", dash: [] },
  { mark: "M-3.2 -3.2H3.2V3.2H-3.2Z", dash: [5, 4] },
  { mark: "M0 -4.5L4.2 3H-4.2Z", dash: [1.5, 3] },
  { mark: "M0 -4.8L4.8 0L0 4.8L-4.8 0Z", dash: [8, 3, 2, 3] },
];

/** @type {(turn?: number) => Look} */
export const lookOf = (turn = 0) => LOOKS[turn % LOOKS.length];
