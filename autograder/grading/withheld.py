"""What a student reads about hidden checks while work can be handed in again: how many passed, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from ..judging.case import Failure
from ..judging.verdict import Verdict

LATER = "Which one and why, you can read when nobody can hand this lesson in any more."


def withheld(verdict: Verdict, visible: Verdict) -> Verdict:
    """Return a verdict that says of the hidden checks only how many passed.

    Args:
        verdict: on all checks.
        visible: on the visible ones alone, so that nothing about the hidden ones can choose its words.
    """
    hidden = [result.passed for result in verdict.results if result.hidden]
    if not hidden or verdict.passed or not verdict.started:
        return verdict
    if visible.failure is None:
        title = f"{len(hidden) - sum(hidden)} of {len(hidden)} did not pass"
        return replace(verdict, failure=Failure(title, LATER, hidden=True))
    words = f"{visible.failure.message} Of the hidden checks, {sum(hidden)} of {len(hidden)} passed."
    return replace(verdict, failure=replace(visible.failure, message=words))
