"""nbgrader preprocessors that mend what students do to notebooks."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import DeduplicateIds


class RepairSubmission(DeduplicateIds):  # type: ignore[misc]
    """Drop cells' second copies from the graded set.

    nbgrader's own preprocessor leaves empty metadata behind, which its next one refuses for the whole class.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Strip duplicates of their metadata, so that a copied cell is an ordinary cell."""
        nb, resources = super().preprocess(nb, resources)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader") == {}:
                del cell.metadata["nbgrader"]
        return nb, resources
