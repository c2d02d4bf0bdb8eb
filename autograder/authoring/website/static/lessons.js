// What scrolls sideways can be reached, and so scrolled, by keyboard.
function reachable() {
  for (const box of document.querySelectorAll("article pre, article .formula, article .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
// The theme leaves its two side columns without a name; a screen reader lists them by it.
function named() {
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
}
addEventListener("load", reachable);
addEventListener("load", named);
addEventListener("resize", reachable);
