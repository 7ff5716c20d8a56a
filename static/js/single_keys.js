// The switch for keys that act without Ctrl or Alt, and the ? that opens the sheet of them.
(() => {
  const KEY = "rubricweb.single-keys";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY) === "off" ? "off" : "on";
    } catch {
      return "on";
    }
  };

  const apply = (state) => {
    root.dataset.singleKeys = state;
    for (const box of document.querySelectorAll("[data-single-keys]:is(input)")) box.checked = state === "on";
  };

  apply(stored());

  document.addEventListener("change", (event) => {
    if (!event.target.matches("input[data-single-keys]")) return;
    const state = event.target.checked ? "on" : "off";
    try {
      localStorage.setItem(KEY, state);
    } catch {
      // then the choice lasts for this page only
    }
    apply(state);
  });

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "?" || isTyping || root.dataset.singleKeys === "off" || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    document.getElementById("keyboard-sheet")?.showModal();
  });
})();
