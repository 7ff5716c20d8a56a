// Gets reviews to the server: every change at once, kept on this device until the server has it.
//
// Takes "review:change" events {name, url, fields}, newest per name wins; `url: null` keeps the fields here
// without sending them, `fields: null` forgets them. Says "review:restored" with what an earlier visit left
// behind, and "review:conflict" when what is stored differs. A submit waits in the same line, after all else of
// its review; "review:submitted" says that the server has it, so does "review:returned" that it refused.
// What waits belongs to one person: nobody else who signs in here sends it.
(() => {
  const PREFIX = "rubricweb.review.";
  const SUBMIT = "submit";
  const FORGET_AFTER_DAYS = 30;
  const RETRY_SECONDS = [2, 5, 15, 30];

  const form = () => document.getElementById("review-form");
  const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
  let person = null; // outlives the form: a reveal has none
  const mine = () => `${PREFIX}${person}.`;
  const keyOf = (page) => `${PREFIX}${page.dataset.person}.${page.dataset.review}`;
  const ownKey = () => (form() ? keyOf(form()) : null);

  // ── What is kept on this device ────────────────────────────────────────────────────────────────
  const fallback = new Map(); // for browsers that keep nothing
  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? fallback.get(key) ?? {};
    } catch {
      return fallback.get(key) ?? {};
    }
  };
  const write = (key, entries) => {
    const isEmpty = Object.keys(entries).length === 0;
    fallback.delete(key);
    try {
      if (isEmpty) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries));
    } catch {
      if (!isEmpty) fallback.set(key, entries);
    }
  };
  const keys = () => {
    const found = new Set(fallback.keys());
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(mine())) found.add(key);
    } catch {
      // then only this page's own
    }
    return [...found];
  };
  const edit = (key, change) => {
    const entries = read(key);
    change(entries);
    write(key, entries);
  };
  const time = (entry) => Number.parseFloat(entry.at);

  // What of a review is to be sent, in order. Its submit holds every answer and comes last, so they need not go alone.
  const waiting = (key) => {
    const lines = Object.entries(read(key)).filter(([, entry]) => entry.url && !entry.refused);
    const isSubmitting = lines.some(([name]) => name === SUBMIT);
    return lines
      .filter(([name]) => !isSubmitting || name === SUBMIT || name === "flag")
      .sort(([one, a], [other, b]) => (one === SUBMIT) - (other === SUBMIT) || time(a) - time(b));
  };
  const oldest = (key) => Math.min(...Object.values(read(key)).map(time));

  // ── The words about it ─────────────────────────────────────────────────────────────────────────
  const show = (state, text) => {
    const sign = form()?.querySelector(".save-state");
    if (!sign) return;
    sign.hidden = false;
    sign.dataset.state = state;
    sign.textContent = text;
  };
  const problem = (text, more = []) => {
    const box = document.getElementById("review-problem");
    if (!box) return;
    const words = document.createElement("p");
    words.textContent = text;
    box.replaceChildren(words, ...more);
    box.hidden = false;
  };
  const clearProblem = () => {
    const box = document.getElementById("review-problem");
    if (box) box.hidden = true;
  };

  // ── Sending ────────────────────────────────────────────────────────────────────────────────────
  const cookie = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
  const post = (url, data) => {
    data.delete("csrfmiddlewaretoken"); // the cookie's is newer after signing in again in another tab
    const token = cookie() ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
    return fetch(url, {
      method: "POST",
      body: data,
      headers: { Accept: "application/json", "X-CSRFToken": token },
      redirect: "manual",
      keepalive: true,
    });
  };
  const packed = (fields) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of Array.isArray(value) ? value : [value]) data.append(name, one);
    }
    return data;
  };

  // {saved: answer}, {later: why} (no network, server in trouble, signed out) or {refused: answer}
  const send = async (entry) => {
    let answer;
    try {
      answer = await post(entry.url, packed(entry.fields));
    } catch {
      return { later: "Offline" };
    }
    const said = await answer.json().catch(() => ({}));
    if (answer.ok) return { saved: said };
    const isSignedOut = answer.type === "opaqueredirect" || (answer.status === 403 && !said.message);
    if (isSignedOut) return { later: "Signed out" };
    if (answer.status >= 500 || answer.status === 429) return { later: "Server busy" };
    return { refused: { message: `The server refused it (error ${answer.status}).`, ...said, status: answer.status } };
  };

  let flushing = null;
  let failures = 0;
  let timer = null;
  let leaving = false; // from Ctrl+Enter on until the next page is there

  const flush = () => {
    flushing ??= drain().finally(() => {
      flushing = null;
    });
    return flushing;
  };

  const drain = async () => {
    clearTimeout(timer);
    // A review that waits longest first, and line by line: what comes in meanwhile goes too.
    const passed = new Set();
    for (;;) {
      const key = keys()
        .filter((one) => !passed.has(one) && waiting(one).length)
        .sort((one, other) => oldest(one) - oldest(other))[0];
      if (!key) break;
      const [name, entry] = waiting(key)[0];
      if (key === ownKey() && !leaving) show("saving", "Saving…");
      const outcome = await send(entry);
      if (outcome.later) {
        const count = keys().reduce((sum, one) => sum + waiting(one).length, 0);
        show("offline", `${outcome.later}: ${count} ${count === 1 ? "change waits" : "changes wait"} here`);
        timer = setTimeout(flush, 1000 * RETRY_SECONDS[Math.min(failures++, RETRY_SECONDS.length - 1)]);
        tell("review:waits", { key, name, why: outcome.later });
        return false;
      }
      failures = 0;
      settle(key, name, entry, outcome);
    }
    if (leaving) return true;
    const refused = form() && Object.values(read(ownKey())).some((entry) => entry.refused);
    if (refused) show("conflict", "Not saved");
    else show("saved", "Saved");
    drawElsewhere();
    return !refused;
  };

  const settle = (key, name, entry, outcome) => {
    const isSubmit = name === SUBMIT;
    edit(key, (entries) => {
      if (entries[name]?.at !== entry.at) return; // it changed again while on its way
      if (outcome.refused) {
        entries[name].refused = outcome.refused;
        return;
      }
      delete entries[name];
      // The form held every answer: what waited beside it has arrived too.
      if (isSubmit) for (const each of Object.keys(entries)) if (time(entries[each]) <= time(entry)) delete entries[each];
    });
    if (isSubmit && outcome.saved) {
      tell("review:submitted", { key, isHere: key === ownKey(), location: outcome.saved.location });
    }
    else if (isSubmit) tell("review:returned", { key, ...outcome.refused });
    else if (outcome.refused && key === ownKey()) conflict(name, entry, outcome.refused);
  };

  // ── What the server did not take ───────────────────────────────────────────────────────────────
  const link = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "button button--small";
    made.textContent = text;
    made.addEventListener("click", act);
    return made;
  };
  const sendAgain = (name, change = () => {}) => {
    edit(ownKey(), (entries) => {
      if (!entries[name]) return;
      delete entries[name].refused;
      change(entries[name]);
    });
    clearProblem();
    flush();
  };

  const conflict = (name, entry, { message, stored, status }) => {
    show("conflict", "Not saved");
    const row = document.createElement("div");
    row.className = "row row--tight";
    if (stored && status === 409 && form().dataset.heartbeat) {
      const words = document.createElement("p");
      words.textContent = `Here: ${entry.fields.verdict || "no answer"}. Stored: ${stored.verdict || "no answer"}${stored.reason ? ` (${stored.reason})` : ""}.`;
      const take = () => {
        edit(ownKey(), (entries) => delete entries[name]);
        clearProblem();
        tell("review:take", { name, stored });
        flush();
      };
      row.append(
        link("Keep mine", () => sendAgain(name, (one) => delete one.fields.known)),
        link("Take what is stored", take),
      );
      problem(message, [words, row]);
      return;
    }
    const words = document.createElement("p");
    words.textContent = "Your answers stay on this device.";
    const reload = document.createElement("a");
    reload.href = location.pathname;
    reload.textContent = "See what is stored";
    row.append(link("Try again", () => sendAgain(name)), reload);
    problem(message, [words, row]);
  };

  // Submits of other reviews that came back, and drafts of them that wait for somebody to look.
  const drawElsewhere = () => {
    const box = form()?.querySelector("[data-review-elsewhere]");
    if (!box) return;
    const lines = [];
    for (const key of keys()) {
      if (key === ownKey()) continue;
      const returned = Object.entries(read(key)).filter(([, entry]) => entry.refused);
      const refused = returned.find(([name]) => name === SUBMIT) ?? returned[0];
      if (!refused) continue;
      const [name, entry] = refused;
      const line = document.createElement("p");
      const back = document.createElement("a");
      back.href = entry.page ?? entry.url;
      back.textContent = `Go back to ${entry.item ?? "it"}`;
      line.append(`${entry.item ?? "Another review"} was not ${name === SUBMIT ? "submitted" : "saved"}: ${entry.refused.message} `, back);
      lines.push(line);
    }
    box.replaceChildren(...lines);
    box.hidden = lines.length === 0;
  };

  let counter = 0;
  const keep = (name, url, fields) => {
    edit(ownKey(), (entries) => {
      if (fields === null) delete entries[name];
      else {
        const at = `${Date.now()}.${String(counter++ % 1000).padStart(3, "0")}`;
        entries[name] = { url, fields, at, item: form().dataset.item, page: location.pathname };
      }
    });
  };
  const flushAll = () => flush().then((done) => done && keys().some((key) => waiting(key).length) && flush());

  document.addEventListener("review:change", ({ detail: { name, url = null, fields } }) => {
    if (url && !leaving && read(ownKey())[SUBMIT]) {
      edit(ownKey(), (entries) => delete entries[SUBMIT]);
      problem("You changed something before it was sent: submit again when you are done.");
    }
    keep(name, url, fields);
    if (url && !leaving) {
      show("saving", "Saving…");
      flushAll();
    }
  });

  window.addEventListener("online", () => {
    failures = 0;
    if (person) flush();
  });
  window.addEventListener("offline", () => {
    if (form() && waiting(ownKey()).length === 0) show("offline", "Offline: changes are kept here");
  });

  document.addEventListener("review:ready", () => {
    leaving = false;
    if (!form()) return;
    person = form().dataset.person;
    const limit = Date.now() - FORGET_AFTER_DAYS * 86_400_000;
    for (const key of keys()) {
      edit(key, (entries) => {
        for (const [name, entry] of Object.entries(entries)) {
          if (time(entry) < limit) delete entries[name];
        }
      });
    }
    if (!form().dataset.heartbeat) {
      showKept();
      drawElsewhere();
      return; // nothing can be saved here now: what waits keeps waiting
    }
    const refused = read(ownKey())[SUBMIT]?.refused;
    // Somebody looks at it again: what was refused is tried again, a submit only when they ask for it.
    edit(ownKey(), (entries) => {
      if (entries[SUBMIT]?.refused) delete entries[SUBMIT];
      for (const entry of Object.values(entries)) delete entry.refused;
    });
    const left = read(ownKey());
    if (Object.keys(left).length) tell("review:restored", left);
    if (refused) sayReturned(refused);
    drawElsewhere();
    if (keys().some((key) => waiting(key).length)) flush();
  });

  // A sheet that is locked shows what was answered here and did not arrive before it was.
  const showKept = () => {
    const kept = Object.fromEntries(Object.entries(read(ownKey())).filter(([name]) => name !== SUBMIT));
    const count = Object.keys(kept).length;
    if (count === 0) return;
    tell("review:restored", kept);
    show("offline", `${count} ${count === 1 ? "change" : "changes"} only on this device`);
  };

  window.addEventListener("beforeunload", (event) => {
    if (!leaving && [...fallback.keys()].some((key) => waiting(key).length)) event.preventDefault();
  });

  // ── Submitting ─────────────────────────────────────────────────────────────────────────────────
  const missingLinks = (articles) => {
    const list = document.createElement("ul");
    list.className = "list-plain review__missing";
    for (const article of articles) {
      const to = document.createElement("a");
      to.href = `#${article.id}`;
      const needsReason = article.querySelector("input:checked");
      to.textContent = article.querySelector("[data-criterion-name]").textContent + (needsReason ? ": reason" : "");
      const line = document.createElement("li");
      line.append(to);
      list.append(line);
    }
    return [list];
  };
  const nameMissing = (articles, text) => {
    for (const article of articles) article.classList.add("is-missing");
    problem(text, missingLinks(articles));
    tell("review:open", { id: articles[0].dataset.criterion });
  };
  const lacksReason = (article) => {
    const label = article.querySelector("input:checked")?.value;
    return JSON.parse(article.dataset.withReason || "[]").includes(label) && !article.querySelector("textarea").value.trim();
  };
  const incomplete = (verdicts, reasons) => {
    const many = (count) => (count === 1 ? "One criterion still needs" : `${count} criteria still need`);
    if (!reasons) return `${many(verdicts)} a verdict.`;
    if (!verdicts) return `${many(reasons)} a reason.`;
    return `${many(verdicts)} a verdict, ${reasons} ${reasons === 1 ? "needs" : "need"} a reason.`;
  };

  document.addEventListener("submit", (event) => {
    if (event.target.id !== "review-form" || event.submitter?.value !== "submit") return; // take it up again
    event.preventDefault();
    if (leaving) return;
    const articles = [...form().querySelectorAll("[data-criterion]")];
    const open = articles.filter((each) => !each.querySelector("input:checked"));
    const unreasoned = articles.filter((each) => !open.includes(each) && lacksReason(each));
    if (open.length || unreasoned.length) {
      nameMissing([...open, ...unreasoned], incomplete(open.length, unreasoned.length));
      return;
    }
    leaving = true;
    event.submitter.setAttribute("aria-busy", "true");
    clearProblem();
    show("saving", "Submitting…");
    const fields = {};
    for (const [name, value] of new FormData(form())) if (name !== "csrfmiddlewaretoken") fields[name] = value;
    keep(SUBMIT, form().getAttribute("action"), { ...fields, action: "submit" });
    const sent = ownKey();
    // Where the next item is here already, this goes on its way while the reader is there.
    const isNext = !document.dispatchEvent(new CustomEvent("review:leave", { cancelable: true, detail: { key: sent } }));
    if (isNext) leaving = false;
    flushAll();
  });

  // Whether the server has all: what comes next is only known then.
  document.addEventListener("review:is-idle", (event) => {
    if (person && keys().some((key) => waiting(key).some(([name]) => name === SUBMIT))) event.preventDefault();
  });

  const stay = () => {
    leaving = false;
    form()?.querySelector("[data-review-submit]")?.removeAttribute("aria-busy");
  };

  document.addEventListener("review:submitted", ({ detail }) => {
    if (!detail.isHere) return;
    leaving = true;
    location.assign(detail.location);
  });
  document.addEventListener("review:waits", ({ detail }) => {
    if (!leaving || !form()) return;
    stay();
    if (detail.why === "Signed out") {
      problem("You are signed out: nothing was submitted yet. Sign in in another tab; it goes on by itself then.");
    } else {
      problem("No connection: nothing was submitted yet. It waits on this device and is sent when you are back online.");
    }
  });
  document.addEventListener("review:returned", ({ detail }) => {
    if (detail.key !== ownKey()) {
      drawElsewhere();
      const isSaid = form()?.querySelector("[data-review-elsewhere]").getClientRects().length > 0;
      if (!isSaid) tell("toast", { text: `An item was not submitted: ${detail.message}`, level: "error" });
      return;
    }
    stay();
    edit(ownKey(), (entries) => delete entries[SUBMIT]);
    sayReturned(detail);
  });
  const sayReturned = ({ status, message, missing = [] }) => {
    const named = missing.map((id) => document.getElementById(`criterion-${id}`)).filter(Boolean);
    if (status === 422 && named.length) {
      nameMissing(named, message);
      return;
    }
    show("conflict", "Not submitted");
    const words = document.createElement("p");
    const reload = document.createElement("a");
    reload.href = location.pathname;
    reload.textContent = "See what is stored";
    words.append("Your answers stay on this page. ", reload);
    problem(message, [words]);
  };
})();
