// What scrolls sideways can be reached, and so scrolled, by keyboard.
function reachable() {
  for (const box of document.querySelectorAll("article pre, article .formula, article .table-wrapper")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}
addEventListener("load", reachable);
addEventListener("resize", reachable);
