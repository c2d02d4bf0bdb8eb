"""Which generated files are still as the last build wrote them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from ..errors import EditedByHandError
from ..paths import Lesson, file_digest, replace_bytes


def refuse_edited(lesson: Lesson, files: Mapping[Path, Path]) -> None:
    """Raise EditedByHandError for the first generated file that is neither absent nor as it was built.

    Each is given with the file that a change to it belongs in.
    """
    built, replacing = read_sums(lesson.manifest), read_sums(lesson.replacing)
    for path, belongs in files.items():
        name = lesson.shown(path)
        if path.exists() and file_digest(path) not in (built.get(name), replacing.get(name)):
            raise EditedByHandError(lesson.shown(path), lesson.shown(belongs))


def read_sums(path: Path) -> dict[str, str]:
    """Return checksums by path; none where nothing was written."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def replace_generated(lesson: Lesson, contents: Mapping[Path, bytes]) -> None:
    """Replace a lesson's generated files, and remove those that are generated no longer.

    What is about to be written is recorded first, so that a build which was stopped halfway is not taken for an edit.
    """
    sums = {lesson.shown(path): hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    text = (json.dumps(sums, indent=1) + "\n").encode()
    lesson.replacing.parent.mkdir(parents=True, exist_ok=True)
    replace_bytes(lesson.replacing, text)
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content)
    for name in read_sums(lesson.manifest).keys() - sums.keys():
        (lesson.root / name).unlink(missing_ok=True)
    replace_bytes(lesson.manifest, text)
    lesson.replacing.unlink()
