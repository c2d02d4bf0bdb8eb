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
// Figures that move: one picture holds all frames, those of the last slider below each other.
function moving() {
  for (const figure of document.querySelectorAll("figure.moving")) {
    const sliders = [...figure.querySelectorAll("input")];
    const picture = figure.querySelector("img");
    const words = JSON.parse(figure.dataset.words);
    const rows = Number(sliders.at(-1).max) + 1;
    const columns = words.length / rows;
    picture.style.width = `${100 * columns}%`;
    function show() {
      let frame = 0;
      for (const slider of sliders) {
        frame = frame * (Number(slider.max) + 1) + Number(slider.value);
        const label = JSON.parse(slider.dataset.labels)[slider.value];
        slider.nextElementSibling.value = label;
        slider.setAttribute("aria-valuetext", label);
      }
      const across = Math.floor(frame / rows) / columns;
      picture.style.transform = `translate(${-100 * across}%, ${(-100 * (frame % rows)) / rows}%)`;
      picture.alt = figure.lastElementChild.textContent = words[frame];
    }
    figure.addEventListener("input", show);
    show();
    figure.hidden = false;
    figure.closest(".cell_output").classList.add("moves");
  }
}
addEventListener("DOMContentLoaded", moving);
