// The theme is the system's unless chosen here. It is set before the page is drawn, so that nothing flashes; the report
// remembers its own choice under the same name.
(() => {
  "use strict";
  const root = document.documentElement;
  const name = "skilldelta-theme";
  const remembered = () => { try { return localStorage.getItem(name); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem(name, theme); } catch { /* a private page forgets it */ } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", isDark() ? "Switch to light colors" : "Switch to dark colors");
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      remember(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
  });
})();
