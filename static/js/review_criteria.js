// One criterion open at a time: choosing a verdict saves it and opens the next one that has none.
(() => {
  const form = document.getElementById("review-form");
  if (!form) return;
  const PAUSE_MILLISECONDS = 800;
  const articles = [...form.querySelectorAll("[data-criterion]")];
  if (articles.length === 0) return;

  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
  const radios = (article) => [...article.querySelectorAll('input[type="radio"]')];
  const verdictOf = (article) => radios(article).find((radio) => radio.checked)?.value ?? "";
  const reasonOf = (article) => article.querySelector("textarea");
  const active = () => articles.find((article) => article.classList.contains("is-active")) ?? articles[0];
  const byId = (id) => articles.find((article) => article.dataset.criterion === String(id));
  const editable = () => !form.querySelector(".verdicts[disabled]");

  // ── Opening ────────────────────────────────────────────────────────────────────────────────────
  const open = (article, { focus = true } = {}) => {
    for (const each of articles) each.classList.toggle("is-active", each === article);
    const side = document.querySelector('.panes__switch [value="side"]');
    if (focus && side) side.checked = true;
    if (focus) article.focus({ preventScroll: true });
    article.scrollIntoView({ block: "nearest" });
  };

  const step = (by) => {
    const target = articles[articles.indexOf(active()) + by];
    if (target) open(target);
  };

  const openNext = (article) => {
    const at = articles.indexOf(article);
    const next = [...articles.slice(at + 1), ...articles.slice(0, at)].find((each) => !verdictOf(each));
    if (next) open(next);
    else open(article);
  };

  form.addEventListener("click", (event) => {
    const article = event.target.closest("[data-criterion]");
    if (article && !article.classList.contains("is-active") && !getSelection().toString()) open(article);
  });
  form.addEventListener("focusin", (event) => {
    const article = event.target.closest("[data-criterion]");
    if (article && !article.classList.contains("is-active")) open(article, { focus: false });
  });
  document.addEventListener("click", (event) => {
    const article = document.getElementById(event.target.closest('a[href^="#criterion-"]')?.hash.slice(1));
    if (!article) return;
    event.preventDefault();
    open(article);
  });
  document.addEventListener("review:open", ({ detail }) => open(byId(detail.id)));

  // ── Answering ──────────────────────────────────────────────────────────────────────────────────
  const undoable = [];
  const stored = new Map(articles.map((article) => [article, verdictOf(article)]));

  const save = (article) => {
    const id = article.dataset.criterion;
    const verdict = verdictOf(article);
    const reason = reasonOf(article).value;
    clearTimeout(timers.get(article));
    timers.delete(article);
    // Without a verdict there is nothing to store on the server yet: the reason waits here.
    if (!verdict) tell("review:change", { name: `reason:${id}`, fields: reason ? { reason } : null });
    else tell("review:change", { name: `reason:${id}`, fields: null });
    if (verdict || stored.get(article)) {
      tell("review:change", { name: `criterion:${id}`, url: article.dataset.url, fields: { verdict, reason } });
    }
    stored.set(article, verdict);
    draw(article);
  };

  const choose = (article, verdict) => {
    for (const radio of radios(article)) radio.checked = radio.value === verdict;
    save(article);
  };

  const draw = (article) => {
    const verdict = verdictOf(article);
    const chips = article.querySelector("template[data-chips]") ?? document.getElementById("review-chips");
    const chip = [...chips.content.children].find((each) => each.dataset.chip === verdict);
    article.querySelector("[data-criterion-state]").replaceChildren(...(chip ? chip.cloneNode(true).childNodes : []));
    article.classList.toggle("is-answered", Boolean(verdict));
    if (verdict) article.classList.remove("is-missing");
    const answered = articles.filter(verdictOf).length;
    for (const number of document.querySelectorAll("[data-review-answered]")) number.textContent = answered;
    form.querySelector("[data-review-progress]").value = answered;
    form.querySelector("[data-review-submit]")?.classList.toggle("is-ready", answered === articles.length);
    if (!form.querySelector(".is-missing") && verdict) document.getElementById("review-problem").hidden = true;
  };

  // Arrow keys walk through the radios and choose as they go: that must not run away to the next criterion.
  let byArrow = false;
  form.addEventListener("keydown", (event) => {
    byArrow = event.key.startsWith("Arrow") && event.target.matches('input[type="radio"]');
  });
  form.addEventListener("pointerdown", () => (byArrow = false));

  form.addEventListener("change", (event) => {
    const article = event.target.closest("[data-criterion]");
    if (!article || event.target.type !== "radio") return;
    undoable.push([article, stored.get(article)]);
    save(article);
    if (!byArrow) openNext(article);
  });

  document.addEventListener("review:key", (event) => {
    const { key } = event.detail;
    if (key === "j" || key === "k") step(key === "j" ? 1 : -1);
    else if ("muc123456789".includes(key)) answer(key);
    else if (key === "e") write(active());
    else if (key === "z") undo();
    else if (key === "h") quote();
    else return;
    event.preventDefault();
  });

  const answer = (key) => {
    if (!editable()) return;
    const article = active();
    const radio = article.querySelector(`[data-review-key~="${key}"]`);
    if (!radio) return;
    byArrow = false;
    if (radio.checked) openNext(article);
    else radio.click();
  };

  const undo = () => {
    const [article, verdict] = undoable.pop() ?? [];
    if (!article) return;
    choose(article, verdict);
    open(article);
  };

  // ── Writing ────────────────────────────────────────────────────────────────────────────────────
  const timers = new Map();

  const write = (article) => {
    open(article, { focus: true });
    const field = reasonOf(article);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  };

  // Takes the selected words of the submission along as a quotation.
  const quote = () => {
    const selection = getSelection();
    const words = selection.toString().trim();
    const isQuotable = selection.anchorNode?.parentElement?.closest("[data-review-quotable]");
    if (!words || !isQuotable || !editable()) return;
    const article = active();
    const field = reasonOf(article);
    field.value += `${field.value && !/\s$/.test(field.value) ? "\n" : ""}“${words}” `;
    save(article);
    write(article);
  };

  form.addEventListener("input", (event) => {
    const article = event.target.closest("textarea") && event.target.closest("[data-criterion]");
    if (!article) return;
    clearTimeout(timers.get(article));
    timers.set(article, setTimeout(save, PAUSE_MILLISECONDS, article));
  });
  const saveTyped = () => {
    for (const article of [...timers.keys()]) save(article);
    if (noteTimer) saveNote();
  };
  form.addEventListener("focusout", saveTyped);
  window.addEventListener("pagehide", saveTyped);

  // ── Note and flag ──────────────────────────────────────────────────────────────────────────────
  const note = document.getElementById("review-note");
  let noteTimer = null;
  const saveNote = () => {
    clearTimeout(noteTimer);
    noteTimer = null;
    tell("review:change", { name: "note", url: note.dataset.reviewNote, fields: { note: note.value } });
  };
  note.addEventListener("input", () => {
    clearTimeout(noteTimer);
    noteTimer = setTimeout(saveNote, PAUSE_MILLISECONDS);
  });

  const flag = document.querySelector("[data-review-flag]");
  const drawFlag = (on) => {
    const button = flag?.querySelector("button");
    if (!button) return;
    button.setAttribute("aria-pressed", String(on));
    button.value = on ? "0" : "1";
  };
  flag?.addEventListener("submit", (event) => {
    event.preventDefault();
    const on = flag.querySelector("button").value === "1";
    drawFlag(on);
    tell("review:change", { name: "flag", url: flag.getAttribute("action"), fields: { flagged: on ? "1" : "0" } });
  });

  // ── What an earlier visit left on this device ──────────────────────────────────────────────────
  document.addEventListener("review:restored", ({ detail }) => {
    for (const [name, { fields }] of Object.entries(detail)) {
      const [kind, id] = name.split(":");
      const article = byId(id);
      if (kind === "note") note.value = fields.note;
      else if (kind === "flag") drawFlag(fields.flagged === "1");
      else if (article) {
        reasonOf(article).value = fields.reason;
        if (kind === "criterion") for (const radio of radios(article)) radio.checked = radio.value === fields.verdict;
        stored.set(article, verdictOf(article));
        draw(article);
      }
    }
  });

  document.addEventListener("DOMContentLoaded", () => {
    if (location.hash) open(document.getElementById(location.hash.slice(1)) ?? active());
    else if (document.activeElement === document.body) active().focus({ preventScroll: true });
  });
})();
