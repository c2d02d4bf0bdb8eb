"""What nbgrader's metadata say about a cell of any notebook, whatever else may be there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CHECK_PREFIX, QUESTION_PREFIX = "check_", "question_"
UNANSWERED = "YOUR ANSWER HERE"  # what a question has in place of an answer


def nbgrader_metadata(cell: Any) -> Mapping[str, Any]:
    """Return nbgrader's part of a cell's metadata; nothing where there is none, or something else."""
    metadata = cell.get("metadata") if isinstance(cell, dict) else None
    ours = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def grade_id_of(cell: Any) -> str:
    """Return the name that nbgrader knows a cell by, or ''."""
    name = nbgrader_metadata(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def checked_exercise(cell: Any) -> str:
    """Return the exercise that a cell checks, or ''."""
    name = grade_id_of(cell)
    return name.removeprefix(CHECK_PREFIX) if is_graded(cell) and name.startswith(CHECK_PREFIX) else ""


def is_graded(cell: Any) -> bool:
    """Say whether a cell carries points."""
    return bool(nbgrader_metadata(cell).get("grade"))


def is_solution(cell: Any) -> bool:
    """Say whether a cell is where a student writes an answer."""
    return bool(nbgrader_metadata(cell).get("solution"))


def is_locked(cell: Any) -> bool:
    """Say whether a cell is the course's own: it is restored, so nothing in it is a student's."""
    return bool(nbgrader_metadata(cell).get("locked"))
