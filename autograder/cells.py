"""The cells of a submission: which exercise they check, what they show, what is written down about them."""

from __future__ import annotations

from typing import Any

import nbformat

from .card import Card
from .judge import Verdict

CHECK_PREFIX = "check_"


def is_locked(cell: Any) -> bool:
    """Say whether a cell is the course's own: nbgrader has restored it, so it cannot end the process."""
    return bool(cell.metadata.get("nbgrader", {}).get("locked"))


def in_short(verdict: Verdict) -> dict[str, Any]:
    """Return what a report needs to know about an exercise."""
    mistake = verdict.failure.mistake if verdict.failure else None
    return {
        "points": verdict.points,
        "of": verdict.max_points,
        "passed": verdict.passed,
        "started": verdict.started,
        "mistake": mistake,
    }


def sources_for(nb: Any, exercise: str) -> list[str]:
    """Return the code of a submission, an exercise's own cell first."""
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    own = [cell.source for cell in code if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise]
    return own + [cell.source for cell in code if cell.source not in own]


def exercise_of(cell: Any) -> str:
    """Return the exercise that a cell checks, or ''."""
    data = cell.metadata.get("nbgrader", {})
    grade_id = str(data.get("grade_id", ""))
    return grade_id.removeprefix(CHECK_PREFIX) if data.get("grade") and grade_id.startswith(CHECK_PREFIX) else ""


def graded_output(verdict: Verdict) -> Any:
    """Return the one output of a graded check cell: nbgrader reads the number, people read the card."""
    card = Card(verdict, graded=True)._repr_html_()
    return as_outputs(
        [{"output_type": "execute_result", "data": {"text/plain": str(verdict.points), "text/html": card}}]
    )[0]


def as_outputs(outputs: list[dict[str, Any]]) -> list[Any]:
    """Return outputs as the notebook format wants them."""
    full = [
        {"metadata": {}, "execution_count": None, **o} if o["output_type"] == "execute_result" else o for o in outputs
    ]
    return [nbformat.from_dict(output) for output in full]
