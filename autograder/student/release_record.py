"""Which release a copy was last brought up to, and which notebooks have a newer version than the student's."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from ..paths import replace_text

RELEASED, NEWER = "released", "newer"
TAKES = "takes the new one and keeps yours beside it"


def read_release_record(path: Path) -> tuple[dict[str, str], set[str]]:
    """Return each file's checksum as it was last released, and the lessons with a newer version.

    Both are empty where the file is missing or damaged.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        released = {str(name): str(value) for name, value in dict(record[RELEASED]).items()}
        return released, set(map(str, record.get(NEWER, [])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, set()


def write_release_record(path: Path, released: Mapping[str, str], newer: Collection[str]) -> None:
    """Write both down."""
    replace_text(path, json.dumps({RELEASED: dict(released), NEWER: sorted(newer)}, indent=1) + "\n")


def forget_newer(path: Path, lesson: str) -> None:
    """Note that a student has taken a lesson's new version."""
    released, newer = read_release_record(path)
    if lesson in newer:
        write_release_record(path, released, newer - {lesson})
