"""Which generated files are still as the last build wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ..errors import EditedByHandError
from ..paths import Lesson, file_digest


def refuse_edited(lesson: Lesson, files: Mapping[Path, Path]) -> None:
    """Raise EditedByHandError for the first file that is neither absent nor as it was built.

    Args:
        lesson: the lesson that the files belong to.
        files: each generated file with the file that a change to it belongs in.
    """
    known = read_manifest(lesson)
    for path, belongs in files.items():
        if path.exists() and file_digest(path) != known.get(lesson.shown(path)):
            raise EditedByHandError(lesson.shown(path), lesson.shown(belongs))


def read_manifest(lesson: Lesson) -> dict[str, str]:
    """Return the checksums of the last build, by path."""
    if not lesson.manifest.exists():
        return {}
    return dict(json.loads(lesson.manifest.read_text(encoding="utf-8")))


def write_manifest(lesson: Lesson, files: Mapping[Path, Path]) -> None:
    """Record what a build wrote."""
    sums = {lesson.shown(path): file_digest(path) for path in files}
    lesson.manifest.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
