// What the theme leaves out for screen readers and keyboards: anchors of code lines are no links, bars of code blocks have
// names of their own, and what scrolls can be reached.
const repair = () => {
  for (const anchor of document.querySelectorAll("a[id^='__codelineno']:not([aria-hidden])")) {
    anchor.setAttribute("aria-hidden", "true");
    anchor.tabIndex = -1;
  }
  document.querySelectorAll("nav.md-code__nav").forEach((bar, index) => {
    if (!bar.hasAttribute("aria-label")) bar.setAttribute("aria-label", `Code block ${index + 1}`);
  });
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
};

repair();
new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
