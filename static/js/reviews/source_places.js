// Where in a field's stored text each letter on the page comes from.
//
// What is on the page is the field's Markdown laid out, or its JSON in other blanks and escapes. No page needed: a
// text node is anything with `data`, `length` and `parentElement`.

const LOOK_AHEAD = 24; // so many characters of markup may stand between two that are shown
const FAR = 400; // and so many with the blanks

/** @param {string} letter */
export const isSpace = (letter) => /\s/.test(letter);

// JSON is shown with other blanks, escapes and numbers than it is stored with; its tokens are the same.
const TOKEN = /"(?:[^"\\]|\\[\s\S])*"|[^\s",:[\]{}]+|[,:[\]{}]/g;
/**
 * @typedef {{ text: string, at: number }} Token
 * @typedef {{ from: number, to: number }} Stretch
 * @typedef {{ source: string, nodes: Text[], starts: Map<Text, Int32Array>, ends: Map<number, number> }} Places
 */

/** @type {(text: string) => Token[]} */
const tokens = (text) => [...text.matchAll(TOKEN)].map((found) => ({ text: found[0], at: found.index }));

/** @type {Record<string, string>} */
const ESCAPES = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", "/": "/" };
/** @param {string} one */
const unescaped = (one) =>
  one.length === 2
    ? (ESCAPES[one[1]] ?? one)
    : one.replace(/\\u(.{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

// The UTF-16 units a token stands for, each with where it is written: an escape is several characters, and two
// of them may be the halves of one.
/** @type {(token: Token) => (Stretch & { letter: string })[]} */
const spelled = ({ text, at }) => {
  const letters = [];
  const written =
    /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\[\s\S]|[\s\S]/g;
  for (const { 0: one, index } of text.matchAll(written)) {
    const said = one.length === 1 ? one : unescaped(one);
    for (let i = 0; i < said.length; i++)
      letters.push({ letter: said[i], from: at + index, to: at + index + one.length });
  }
  return letters;
};

/** @type {(places: Int32Array, ends: Map<number, number>, shown: Stretch, stored: Stretch) => void} */
const fill = (places, ends, shown, { from, to }) => {
  for (let i = shown.from; i < shown.to; i++) places[i] = from;
  if (to > from + 1) ends.set(from, to);
};

// null where the tokens differ, as they do where a key comes twice.
/** @type {(source: string, nodes: Text[]) => Places | null} */
const layJsonBeside = (source, nodes) => {
  if (nodes.length !== 1 || !nodes[0].parentElement?.matches("pre.code")) return null;
  const shown = tokens(nodes[0].data);
  const stored = tokens(source);
  if (shown.length !== stored.length) return null;
  const places = new Int32Array(nodes[0].length).fill(-1);
  const ends = new Map();
  for (const [at, token] of shown.entries()) {
    const whole = { from: token.at, to: token.at + token.text.length };
    const there = stored[at];
    if (token.text[0] !== '"') {
      if (token.text === there.text)
        for (let i = 0; i < token.text.length; i++) places[token.at + i] = there.at + i;
      else fill(places, ends, whole, { from: there.at, to: there.at + there.text.length });
      continue;
    }
    const letters = spelled(token);
    const written = spelled(there);
    if (letters.map((one) => one.letter).join("") !== written.map((one) => one.letter).join("")) return null;
    for (const [i, one] of letters.entries()) fill(places, ends, one, written[i]);
  }
  return { source, nodes, starts: new Map([[nodes[0], places]]), ends };
};

/**
 * `starts`: for each node the offset in `source` of each of its letters (UTF-16 units), -1 where none was found;
 * `ends`: of those written with several letters, where they end.
 * @type {(source: string, nodes: Text[]) => Places}
 */
export const laidBeside = (source, nodes) => {
  const json = layJsonBeside(source, nodes);
  if (json) return json;
  const starts = new Map();
  let at = 0;
  for (const node of nodes) {
    const text = node.data;
    const whole = text.trim() ? source.indexOf(text, at) : -1;
    const places = new Int32Array(text.length).fill(-1);
    if (whole !== -1) {
      for (let i = 0; i < text.length; i++) places[i] = whole + i;
      at = whole + text.length;
    } else {
      for (let i = 0; i < text.length; i++) {
        if (isSpace(text[i])) continue;
        const found = source.indexOf(text[i], at);
        if (found === -1 || found - at > FAR) continue;
        if (source.slice(at, found).replace(/\s+/g, "").length > LOOK_AHEAD) continue;
        places[i] = found;
        at = found + 1;
      }
    }
    starts.set(node, places);
  }
  return { source, nodes, starts, ends: new Map() };
};

/**
 * How many characters (code points) the first `units` UTF-16 units are.
 * @type {(source: string, units: number) => number}
 */
export const points = (source, units) => {
  let count = 0;
  for (const _ of source.slice(0, units)) count++;
  return count;
};
/**
 * How many UTF-16 units the first `wanted` characters are.
 * @type {(source: string, wanted: number) => number}
 */
export const units = (source, wanted) => {
  let at = 0;
  for (let count = 0; count < wanted && at < source.length; count++) at += isPair(source, at) ? 2 : 1;
  return at;
};

/**
 * Whether a character of two UTF-16 units begins there.
 * @type {(source: string, at: number) => boolean}
 */
export const isPair = (source, at) => (source.codePointAt(at) ?? 0) > 0xffff;
