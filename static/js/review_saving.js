// Gets a review to the server: every change at once, kept on this device until the server has it.
//
// Takes "review:change" events {name, url, fields}, newest per name wins; `url: null` keeps the fields here
// without sending them, `fields: null` forgets them. Says "review:restored" with what an earlier visit left
// behind. Submits only when asked to.
(() => {
  const form = document.getElementById("review-form");
  if (!form) return;
  const PREFIX = "rubricweb.review.";
  const KEY = PREFIX + form.dataset.review;
  const FORGET_AFTER_DAYS = 30;
  const RETRY_SECONDS = [2, 5, 15, 30];

  // ── What is kept on this device ────────────────────────────────────────────────────────────────
  const fallback = new Map(); // for browsers that keep nothing
  const read = (key) => {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? {};
    } catch {
      return fallback.get(key) ?? {};
    }
  };
  const write = (key, entries) => {
    const isEmpty = Object.keys(entries).length === 0;
    try {
      if (isEmpty) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries));
    } catch {
      fallback.set(key, entries);
    }
  };
  const keys = () => {
    const found = new Set([KEY, ...fallback.keys()]);
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) found.add(key);
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
  const waiting = (key) => Object.entries(read(key)).filter(([, entry]) => entry.url && !entry.refused);

  // ── The words about it ─────────────────────────────────────────────────────────────────────────
  const sign = form.querySelector(".save-state");
  const show = (state, text) => {
    sign.hidden = false;
    sign.dataset.state = state;
    sign.textContent = text;
  };
  const problem = (text, more = []) => {
    const box = document.getElementById("review-problem");
    const words = document.createElement("p");
    words.textContent = text;
    box.replaceChildren(words, ...more);
    box.hidden = false;
  };
  const clearProblem = () => {
    document.getElementById("review-problem").hidden = true;
  };

  // ── Sending ────────────────────────────────────────────────────────────────────────────────────
  const cookie = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];
  const post = (url, data) => {
    data.delete("csrfmiddlewaretoken"); // the cookie's is newer after signing in again in another tab
    const token = cookie() ?? form.elements.csrfmiddlewaretoken.value;
    return fetch(url, {
      method: "POST",
      body: data,
      headers: { Accept: "application/json", "X-CSRFToken": token },
      redirect: "manual",
      keepalive: true,
    });
  };

  // "saved", "later" (no network, server in trouble, signed out) or {refused: why}
  const send = async (entry) => {
    const data = new FormData();
    for (const [name, value] of Object.entries(entry.fields)) data.set(name, value);
    let answer;
    try {
      answer = await post(entry.url, data);
    } catch {
      return { later: "Offline" };
    }
    if (answer.ok) return "saved";
    if (answer.type === "opaqueredirect") return { later: "Signed out" };
    if (answer.status >= 500 || answer.status === 429) return { later: "Server busy" };
    if (answer.status === 403) return { later: "Signed out" };
    return { refused: await message(answer) };
  };
  const message = async (answer) => {
    try {
      return (await answer.json()).message;
    } catch {
      return `The server refused it (error ${answer.status}).`;
    }
  };

  let flushing = null;
  let failures = 0;
  let timer = null;
  let leaving = false;

  const flush = () => (flushing ??= drain().finally(() => (flushing = null)));

  const drain = async () => {
    clearTimeout(timer);
    for (const key of keys()) {
      for (;;) {
        const [name, entry] = waiting(key)[0] ?? [];
        if (!name) break;
        if (key === KEY && !leaving) show("saving", "Saving…");
        const outcome = await send(entry);
        if (outcome.later) {
          const count = waiting(KEY).length;
          show("offline", `${outcome.later}: ${count} ${count === 1 ? "change waits" : "changes wait"} here`);
          timer = setTimeout(flush, 1000 * RETRY_SECONDS[Math.min(failures++, RETRY_SECONDS.length - 1)]);
          return false;
        }
        failures = 0;
        edit(key, (entries) => {
          if (entries[name]?.at !== entry.at) return; // it changed again while on its way
          if (outcome === "saved") delete entries[name];
          else entries[name].refused = outcome.refused;
        });
      }
    }
    const refused = Object.values(read(KEY)).find((entry) => entry.refused);
    if (leaving) return true;
    if (refused) {
      show("conflict", "Not saved");
      conflict(refused.refused);
    } else {
      show("saved", "Saved");
    }
    return !refused;
  };

  const conflict = (why) => {
    const reload = document.createElement("a");
    reload.href = location.pathname;
    reload.textContent = "See what is stored";
    const words = document.createElement("p");
    words.append("Your answers stay on this page. ", reload);
    problem(why, [words]);
  };

  let counter = 0;
  document.addEventListener("review:change", ({ detail: { name, url = null, fields } }) => {
    edit(KEY, (entries) => {
      if (fields === null) delete entries[name];
      else entries[name] = { url, fields, at: `${Date.now()}.${counter++}` };
    });
    if (url && !leaving) {
      show("saving", "Saving…");
      flush().then((done) => done && waiting(KEY).length && flush());
    }
  });

  window.addEventListener("online", () => {
    failures = 0;
    flush();
  });
  window.addEventListener("offline", () => {
    if (waiting(KEY).length === 0) show("offline", "Offline: changes are kept here");
  });

  document.addEventListener("DOMContentLoaded", () => {
    const oldest = Date.now() - FORGET_AFTER_DAYS * 86_400_000;
    for (const key of keys()) {
      edit(key, (entries) => {
        for (const [name, entry] of Object.entries(entries)) {
          if (Number.parseFloat(entry.at) < oldest || (entry.refused && key !== KEY)) delete entries[name];
        }
      });
    }
    const left = read(KEY);
    if (Object.keys(left).length) document.dispatchEvent(new CustomEvent("review:restored", { detail: left }));
    if (keys().some((key) => waiting(key).length)) flush();
  });

  window.addEventListener("beforeunload", (event) => {
    if (!leaving && fallback.has(KEY) && waiting(KEY).length) event.preventDefault();
  });

  // ── Submitting ─────────────────────────────────────────────────────────────────────────────────
  const missingLinks = (articles) => {
    const list = document.createElement("ul");
    list.className = "list-plain review__missing";
    for (const article of articles) {
      const link = document.createElement("a");
      link.href = `#${article.id}`;
      link.textContent = article.querySelector("[data-criterion-name]").textContent;
      const line = document.createElement("li");
      line.append(link);
      list.append(line);
    }
    return [list];
  };
  const nameMissing = (articles, text) => {
    for (const article of articles) article.classList.add("is-missing");
    problem(text, missingLinks(articles));
    document.dispatchEvent(new CustomEvent("review:open", { detail: { id: articles[0].dataset.criterion } }));
  };

  form.addEventListener("submit", async (event) => {
    if (event.submitter?.value !== "submit") return; // take it up again
    event.preventDefault();
    if (leaving) return;
    const open = [...form.querySelectorAll("[data-criterion]")].filter((each) => !each.querySelector("input:checked"));
    if (open.length) {
      nameMissing(open, open.length === 1 ? "One criterion still needs a verdict." : `${open.length} criteria still need a verdict.`);
      return;
    }
    const button = event.submitter;
    leaving = true;
    button.setAttribute("aria-busy", "true");
    show("saving", "Submitting…");
    clearProblem();
    const stay = () => {
      leaving = false;
      button.removeAttribute("aria-busy");
    };
    await flushing;
    const data = new FormData(form);
    data.set("action", "submit");
    let answer;
    try {
      answer = await post(form.getAttribute("action"), data);
    } catch {
      stay();
      show("offline", "Offline");
      problem("No connection: nothing was submitted. Your answers are kept on this device; submit again when you are back online.");
      return;
    }
    if (answer.ok) {
      write(KEY, {});
      location.assign((await answer.json()).location);
      return;
    }
    stay();
    if (answer.type === "opaqueredirect" || answer.status === 403) {
      show("offline", "Signed out");
      problem("You are signed out: nothing was submitted. Sign in in another tab, then submit again here.");
      return;
    }
    const said = await answer.json().catch(() => ({}));
    const named = (said.missing ?? []).map((id) => document.getElementById(`criterion-${id}`)).filter(Boolean);
    if (answer.status === 422 && named.length) {
      nameMissing(named, said.message);
    } else if (answer.status === 409) {
      show("conflict", "Not submitted");
      conflict(said.message);
    } else {
      show("conflict", "Not submitted");
      problem(said.message ?? `The server could not take it (error ${answer.status}). Your answers stay here; try again.`);
    }
  });
})();
