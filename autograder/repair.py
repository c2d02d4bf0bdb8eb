"""nbgrader preprocessors that mend what happens to notebooks between release and submission."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import DeduplicateIds, NbGraderPreprocessor, OverwriteCells

from .lessons import Course
from .notebooks import read_notebook


class MatchCells(NbGraderPreprocessor):  # type: ignore[misc]
    """Give cells their nbgrader metadata back where a submission lost all of it."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Match the cells with the released ones; leave the notebook alone where that is not possible."""
        lesson = Course(Path(self.config.CourseDirectory.root)).lesson(resources["nbgrader"]["assignment"])
        if not ids_in(nb):
            match(nb, read_notebook(lesson.released / lesson.notebook))
        return nb, resources


def ids_in(nb: Any) -> set[str]:
    """Return the names that nbgrader knows a notebook's cells by."""
    return {cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in nb.cells} - {""}


def match(nb: Any, released: Any) -> bool:
    """Copy nbgrader's metadata from released cells to a submission's, by content; all of it or nothing.

    A cell is the same one that was released; or defines what an exercise is named; or follows the same cell.
    """
    pairs, before = [], None
    for cell in released.cells:
        if "nbgrader" in cell.metadata:
            found = partner(nb, cell, before)
            if found is None:
                return False
            pairs.append((found, cell.metadata["nbgrader"]))
        before = cell
    if len({id(cell) for cell, _ in pairs}) < len(pairs):
        return False
    for cell, metadata in pairs:
        cell.metadata["nbgrader"] = dict(metadata)
    return True


def partner(nb: Any, cell: Any, before: Any) -> Any:
    """Return the submission's cell that a released one has become, or None."""
    metadata: Mapping[str, Any] = cell.metadata["nbgrader"]
    if metadata.get("locked"):
        return next((c for c in nb.cells if c.source.strip() == cell.source.strip()), None)
    defines = re.compile(rf"^(def|class) {re.escape(metadata['grade_id'])}\b", re.MULTILINE)
    if cell.cell_type == "code":
        return next((c for c in nb.cells if c.cell_type == "code" and defines.search(c.source)), None)
    followed = zip(nb.cells, nb.cells[1:], strict=False)
    return next((c for previous, c in followed if before and previous.source.strip() == before.source.strip()), None)


class DropCopies(DeduplicateIds):  # type: ignore[misc]
    """Drop cells' second copies from the graded set.

    nbgrader's own preprocessor leaves empty metadata behind, which a later one refuses for the whole class.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Strip duplicates of their metadata, so that a copied cell is an ordinary cell."""
        nb, resources = super().preprocess(nb, resources)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader") == {}:
                del cell.metadata["nbgrader"]
        return nb, resources


class RestoreCells(OverwriteCells):  # type: ignore[misc]
    """Put locked cells back as they were released, also deleted ones.

    nbgrader adds a deleted cell without an id, which the notebook format will not accept for long.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Restore cells and give restored ones an id."""
        self.add_missing_cells = True
        nb, resources = super().preprocess(nb, resources)
        for cell in nb.cells:
            cell.setdefault("id", cell.metadata.get("nbgrader", {}).get("grade_id", "cell"))
        return nb, resources
