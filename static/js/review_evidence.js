// Evidence: selected words of the item become places in its stored text, marked there and listed beside the verdict.
//
// A place is {field, start, end, text} with offsets in characters (code points) of the field as it is stored; what
// is on the page is its Markdown laid out, so each text on the page is first laid beside its source.
(() => {
  const MOST = 20;
  const COLOURS = 6;
  const LOOK_AHEAD = 24; // so many characters of markup may stand between two that are shown
  const FAR = 400; // and so many with the blanks
  const page = { sources: {}, maps: new Map() };

  const form = () => document.getElementById("review-form");
  const fieldOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest("[data-field]");
  const toast = (text) => document.dispatchEvent(new CustomEvent("toast", { detail: { text } }));

  // ── The page's text beside its source ──────────────────────────────────────────────────────────
  const textNodes = (region) => {
    const walker = document.createTreeWalker(region, NodeFilter.SHOW_TEXT);
    const nodes = [];
    while (walker.nextNode()) nodes.push(walker.currentNode);
    return nodes;
  };

  const isSpace = (letter) => /\s/.test(letter);

  // JSON is shown with other blanks, escapes and numbers than it is stored with; its tokens are the same.
  const TOKEN = /"(?:[^"\\]|\\[^])*"|[^\s",:[\]{}]+|[,:[\]{}]/g;
  const tokens = (text) => [...text.matchAll(TOKEN)].map((found) => ({ text: found[0], at: found.index }));

  const ESCAPES = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", "/": "/" };
  const unescaped = (one) =>
    one.length === 2
      ? (ESCAPES[one[1]] ?? one)
      : one.replace(/\\u(.{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));

  // The UTF-16 units a token stands for, each with where it is written: an escape is several characters, and two
  // of them may be the halves of one.
  const spelled = ({ text, at }) => {
    const letters = [];
    const written = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\[^]|[^]/g;
    for (const { 0: one, index } of text.matchAll(written)) {
      const said = one.length === 1 ? one : unescaped(one);
      for (let i = 0; i < said.length; i++) letters.push({ letter: said[i], from: at + index, to: at + index + one.length });
    }
    return letters;
  };

  const fill = (places, ends, shown, { from, to }) => {
    for (let i = shown.from; i < shown.to; i++) places[i] = from;
    if (to > from + 1) ends.set(from, to);
  };

  // null where the tokens differ, as they do where a key comes twice.
  const layJsonBeside = (source, nodes) => {
    if (nodes.length !== 1 || !nodes[0].parentElement.matches("pre.code")) return null;
    const shown = tokens(nodes[0].data);
    const stored = tokens(source);
    if (shown.length !== stored.length) return null;
    const places = new Int32Array(nodes[0].length).fill(-1);
    const ends = new Map();
    for (const [at, token] of shown.entries()) {
      const whole = { from: token.at, to: token.at + token.text.length };
      const there = stored[at];
      if (token.text[0] !== '"') {
        if (token.text === there.text) for (let i = 0; i < token.text.length; i++) places[token.at + i] = there.at + i;
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

  // Node → the offset in the source of each of its letters (UTF-16 units), -1 where none was found; `ends` are
  // those of letters that are written with several.
  const layBeside = (region) => {
    const known = page.maps.get(region);
    if (known) return known;
    const map = laidBeside(page.sources[region.dataset.field], textNodes(region));
    page.maps.set(region, map);
    return map;
  };

  const laidBeside = (source, nodes) => {
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

  const points = (source, units) => {
    let count = 0;
    for (const _ of source.slice(0, units)) count++;
    return count;
  };
  const units = (source, wanted) => {
    let at = 0;
    for (let count = 0; count < wanted && at < source.length; count++) at += source.codePointAt(at) > 0xffff ? 2 : 1;
    return at;
  };

  // ── From a selection to a place ────────────────────────────────────────────────────────────────
  const placeOf = (range) => {
    const region = fieldOf(range.startContainer) ?? fieldOf(range.endContainer);
    if (!region || !(region.dataset.field in page.sources)) return null;
    const { source, nodes, starts, ends } = layBeside(region);
    let first = -1;
    let last = -1;
    for (const node of nodes) {
      if (!range.intersectsNode(node)) continue;
      const from = node === range.startContainer ? range.startOffset : 0;
      const to = node === range.endContainer ? range.endOffset : node.length;
      const places = starts.get(node);
      for (let i = from; i < to; i++) {
        if (places[i] === -1) continue;
        if (first === -1) first = places[i];
        last = places[i];
      }
    }
    if (first === -1) return null;
    let end = ends.get(last) ?? last + 1;
    if (source.codePointAt(last) > 0xffff) end = last + 2;
    while (first < end && isSpace(source[first])) first++; // a double click takes the blank along
    while (end > first && isSpace(source[end - 1])) end--;
    if (first === end) return null;
    if (first > 0 && source.codePointAt(first - 1) > 0xffff) first -= 1; // never half a character
    return { field: region.dataset.field, start: points(source, first), end: points(source, end), text: source.slice(first, end) };
  };

  // ── From a place to the page ───────────────────────────────────────────────────────────────────
  const rangeOf = (span) => {
    const region = document.querySelector(`[data-field="${CSS.escape(span.field)}"]`);
    if (!region || !(span.field in page.sources)) return null;
    const { source, nodes, starts } = layBeside(region);
    const from = units(source, span.start);
    const to = units(source, span.end);
    let range = null;
    for (const node of nodes) {
      const places = starts.get(node);
      for (let i = 0; i < places.length; i++) {
        if (places[i] < from || places[i] >= to) continue;
        if (!range) {
          range = document.createRange();
          range.setStart(node, i);
        }
        range.setEnd(node, i + 1);
      }
      if (range && places.length && places.at(-1) >= to) break;
    }
    return range;
  };

  const scrollTo = (range) => {
    const element = range.startContainer.parentElement;
    for (let details = element.closest("details"); details; details = details.parentElement.closest("details")) {
      details.open = true;
    }
    const main = document.querySelector('.panes__switch [value="main"]');
    if (main) main.checked = true;
    const pane = element.closest(".panes__main");
    const box = range.getBoundingClientRect();
    if (pane && pane.scrollHeight > pane.clientHeight) {
      pane.scrollTop += box.top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
    } else {
      window.scrollBy(0, box.top - window.innerHeight / 3);
    }
  };

  // ── What the sheet holds ───────────────────────────────────────────────────────────────────────
  const articles = () => [...(form()?.querySelectorAll("[data-criterion]") ?? [])];
  const fieldFor = (article) => article.querySelector('input[name^="evidence_"]');
  const spansOf = (article) => JSON.parse(fieldFor(article)?.value || "[]");
  const where = (field) => {
    const [, name, turn] = field.match(/^(\w+)(?:\[(\d+)\])?/);
    return name[0].toUpperCase() + name.slice(1) + (turn === undefined ? "" : `, turn ${Number(turn) + 1}`);
  };

  const button = (className, label, words) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = className;
    if (label) made.setAttribute("aria-label", label);
    made.append(words);
    return made;
  };

  const drawChips = (article) => {
    const box = article.querySelector("[data-evidence]");
    box.querySelector(".quoted")?.remove();
    const spans = spansOf(article);
    if (!spans.length) return;
    const list = document.createElement("ul");
    list.className = `quoted list-plain quoted--${1 + (articles().indexOf(article) % COLOURS)}`;
    list.setAttribute("aria-label", "Evidence");
    for (const [at, span] of spans.entries()) {
      const line = document.createElement("li");
      line.className = "quoted__line";
      const short = span.text.length > 160 ? `${span.text.slice(0, 160)}…` : span.text;
      const go = button("quoted__words", "", short);
      go.title = `Show it in the text (${where(span.field)})`;
      go.dataset.quoteGo = at;
      const place = document.createElement("span");
      place.className = "quoted__where";
      place.textContent = where(span.field);
      line.append(go, place);
      if (form().dataset.heartbeat) {
        const remove = button("quoted__remove", `Remove “${short.slice(0, 40)}”`, "×");
        remove.dataset.quoteRemove = at;
        line.append(remove);
      }
      list.append(line);
    }
    box.prepend(list);
  };

  const drawMarks = () => {
    if (!CSS.highlights) return; // the list says it all; only the marks in the text are missing
    const marks = Array.from({ length: COLOURS }, () => []);
    for (const [at, article] of articles().entries()) {
      for (const span of spansOf(article)) {
        const range = rangeOf(span);
        if (range) marks[at % COLOURS].push(range);
      }
    }
    for (const [at, ranges] of marks.entries()) CSS.highlights.set(`evidence-${at + 1}`, new Highlight(...ranges));
  };

  const change = (article, spans) => {
    fieldFor(article).value = JSON.stringify(spans);
    draw(article);
    document.dispatchEvent(new CustomEvent("review:evidence", { detail: { article } }));
  };
  const draw = (article) => {
    drawChips(article);
    drawMarks();
  };

  const quote = () => {
    const article = form()?.querySelector("[data-criterion].is-active");
    if (!article || !form().dataset.heartbeat) return;
    const selection = getSelection();
    const range = selection.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const span = range && placeOf(range);
    if (!span) {
      toast(range ? "These words cannot be quoted: select within one text of the item." : "Select words of the item first.");
      return;
    }
    const spans = spansOf(article);
    const isThere = spans.some((one) => one.field === span.field && one.start === span.start && one.end === span.end);
    if (isThere) return;
    if (spans.length >= MOST) {
      toast(`A criterion has at most ${MOST} quotes.`);
      return;
    }
    change(article, [...spans, span]);
    selection.removeAllRanges();
  };

  // ── What is listened to ────────────────────────────────────────────────────────────────────────
  document.addEventListener("review:key", (event) => {
    if (event.detail.key !== "h") return;
    event.preventDefault();
    quote();
  });
  document.addEventListener("mousedown", (event) => {
    if (event.target.closest("[data-review-quote]")) event.preventDefault(); // the selection stays
  });
  document.addEventListener("click", (event) => {
    const article = event.target.closest("[data-criterion]");
    const go = event.target.closest("[data-quote-go]");
    const remove = event.target.closest("[data-quote-remove]");
    if (event.target.closest("[data-review-quote]")) quote();
    if (!article) return;
    if (go) {
      const range = rangeOf(spansOf(article)[go.dataset.quoteGo]);
      if (range) scrollTo(range);
    }
    if (remove) {
      const at = Number(remove.dataset.quoteRemove);
      change(article, spansOf(article).filter((_, each) => each !== at));
      article.focus({ preventScroll: true });
    }
  });
  document.addEventListener("review:show", ({ detail: { range } }) => scrollTo(range));
  document.addEventListener("review:redraw", ({ detail: { article } }) => draw(article));

  document.addEventListener("review:ready", () => {
    const sources = document.getElementById("review-sources");
    page.sources = sources ? JSON.parse(sources.textContent) : {};
    page.maps = new Map();
    for (const article of articles()) if (fieldFor(article)) drawChips(article);
    if (form()) drawMarks();
  });
})();
