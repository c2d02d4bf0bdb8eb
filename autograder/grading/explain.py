"""Why an answer got its message: what every explainer says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..judging.case import Explanation
from ..judging.diagnose import explanations
from ..judging.shortcuts import barred
from ..judging.verdict import Verdict
from .grade import shortcut_of, verdict_of
from .repair import repair_submission
from .running import ran
from .submission import Submission


def explained(submission: Submission, exercise: str) -> tuple[Verdict, list[tuple[str, Explanation]]]:
    """Judge one exercise; return what every explainer that applies says of it, with its rule. The first one counts."""
    notebook = repair_submission(submission.notebook, submission.lesson)
    with ran(notebook, submission) as run, run.runner.trials(exercise) as trial:
        verdict = verdict_of(run, exercise, trial)
        said = list(explanations(verdict.case)) if verdict.case else []
        short = shortcut_of(run, exercise, run.witness.outcomes(exercise) if verdict.points else {})
        return barred(verdict, *short) if short and verdict.started else verdict, said


def lines_about(verdict: Verdict, explanations: Sequence[tuple[str, Explanation]]) -> Iterator[str]:
    """Yield how an exercise went, and what each explainer says; the one that the student reads has a > in front."""
    yield f"{verdict.exercise}: {sum(r.passed for r in verdict.results)} of {len(verdict.results)} checks passed"
    if verdict.failure is None:
        return
    if verdict.failure.rule == "shortcut":
        yield f"> shortcut: {verdict.failure.detail}"
        return
    yield f"first failed: {verdict.failure.title}{' (hidden)' if verdict.failure.hidden else ''}"
    for i, (rule, said) in enumerate(explanations):
        name = said.mistake or said.sentence
        words = (said.unseen if verdict.failure.hidden else "") or said.message
        yield f"{'-' if i else '>'} {rule}{f' ({name})' if name not in ('', rule) else ''}: {words}"
