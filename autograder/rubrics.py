"""Rubrics for whoever grades a question: beside the answer in Formgrader, never in feedback."""

from __future__ import annotations

from typing import Any

from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import NbGraderPreprocessor

from .kit import Kit

TAG, PREFIX = "rubric", "question_"


class DropRubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """Take out of a feedback page what only graders should read."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Drop every cell that carries the tag."""
        nb.cells = [cell for cell in nb.cells if TAG not in cell.metadata.get("tags", [])]
        return nb, resources


def add_rubrics(nb: Any, kit: Kit) -> None:
    """Put each question's rubric after the student's answer."""
    rubrics = {PREFIX + cell.name: cell.text for cell in kit.cells if cell.kind == "question"}
    cells = []
    for cell in nb.cells:
        cells.append(cell)
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in rubrics:
            text = f"**For the grader only**\n\n{rubrics[name]}"
            cells.append(new_markdown_cell(text, id=f"rubric-{name}", metadata={"tags": [TAG]}))
    nb.cells = cells
