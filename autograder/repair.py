"""nbgrader preprocessors that mend what happens to notebooks between release and submission."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import DeduplicateIds, OverwriteCells


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
