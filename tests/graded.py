"""One submission in tests: from a student's cells to what the graded notebook says of them."""

import json
from collections.abc import Mapping
from typing import Any

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.grading.grade import RECORD, grade
from autograder.grading.package import LessonPackage
from autograder.grading.repair import repair_submission
from autograder.grading.running import Outcomes, ran
from autograder.grading.sandbox.codec import CellResult
from autograder.grading.submission import Submission

SEED = 5


def handed_in(package: LessonPackage, cells: Mapping[str, str] | Any, seed: int = SEED, **how: Any) -> Submission:
    """Return the released notebook with other text in some cells, by grade id, or a whole notebook, as a submission."""
    notebook = cells if "cells" in cells else submission(package, cells)
    return Submission(notebook_text(notebook).encode(), package, seed, **how)


def graded(given: Submission) -> dict[str, Any]:
    """Grade a submission; return the notebook."""
    notebook: dict[str, Any] = json.loads(grade(given))
    return notebook


def record_of(given: Submission) -> dict[str, Any]:
    """Grade a submission; return what the notebook records."""
    record: dict[str, Any] = graded(given)["metadata"][RECORD]
    return record


def points_in(record: Mapping[str, Any]) -> dict[str, int]:
    """Return each exercise's points."""
    return {name: verdict["points"] for name, verdict in record["verdicts"].items()}


def outcomes_of(given: Submission) -> Outcomes:
    """Run a submission; return what each check gave, by exercise and check."""
    with ran(repair_submission(given.notebook, given.lesson), given) as run:
        return run.outcomes


def errors_in(result: CellResult) -> list[str]:
    """Return the names of the errors that a cell showed."""
    return [output["ename"] for output in result.outputs if output["output_type"] == "error"]
