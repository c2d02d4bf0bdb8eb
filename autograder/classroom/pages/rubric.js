// In Formgrader: a click on a row of a rubric writes its last cell into the comment above, and gives its points.
// Without internet there is no MathJax, for which nbgrader's page waits before its keys work. Formulas need none here.
{
  window.MathJax ??= { Hub: { Startup: { signal: { Interest: (tell) => setTimeout(() => tell("End")) } } } };
  const rubric = document.currentScript.parentElement;
  rubric.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const answer = $(rubric).closest(".cell").prev();
    const comment = answer.find(".comment");
    const words = button.closest("tr").lastElementChild.textContent;
    comment.val([comment.val(), words].filter(Boolean).join("\n\n")).trigger("change");
    autosize.update(comment);
    const score = answer.find(".score");
    const earns = button.closest("table") === rubric.querySelector("table");
    score.val(Number(button.textContent) + (earns ? Number(score.val()) : 0)).trigger("change");
  });
}
