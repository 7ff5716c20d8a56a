// Light, dark or like the system; remembered. Runs before the first paint, so it is not deferred.
(() => {
  const KEY = "rubricweb.theme";
  const root = document.documentElement;

  const chosen = () => {
    try {
      return localStorage.getItem(KEY) || "system";
    } catch {
      return "system"; // storage may be blocked; the system's choice still works
    }
  };

  /** @param {string} theme */
  const apply = (theme) => {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const button of document.querySelectorAll("[data-theme-set]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeSet === theme));
    }
    document.dispatchEvent(new CustomEvent("theme:changed"));
  };

  apply(chosen());
  document.addEventListener("DOMContentLoaded", () => apply(chosen()));
  window.addEventListener("storage", (event) => event.key === KEY && apply(chosen()));
  window
    .matchMedia("(prefers-color-scheme: dark)")
    .addEventListener("change", () => document.dispatchEvent(new CustomEvent("theme:changed")));

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-set]");
    const theme = button?.dataset.themeSet;
    if (!theme) return;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // then the choice lasts for this page only
    }
    apply(theme);
  });
})();
