"""What an exercise is called: its name after the number that its heading in the lesson has, such as `2.3 attend`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..judging.cell_metadata import checked_exercise

HEADING = re.compile(r"^#+ Exercise (\d+\.\d+)", re.M)


def titles_in(notebook: Path) -> dict[str, str]:
    """Return what each exercise of a lesson's notebook is called, by name.

    Those without a numbered heading above them are missing, and so are all where the notebook cannot be read: it may be
    a student's.
    """
    try:
        return dict(titles_read(notebook, notebook.stat().st_mtime_ns))
    except (OSError, ValueError, KeyError, TypeError):
        return {}


@lru_cache(maxsize=32)
def titles_read(notebook: Path, _changed: int) -> tuple[tuple[str, str], ...]:
    """Read a notebook. The modification time is part of the cache's key."""
    return tuple(titled(json.loads(notebook.read_text(encoding="utf-8"))["cells"]))


def titled(cells: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the title of each exercise that some cells check."""
    number = ""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            number = [number, *HEADING.findall("".join(cell["source"]))][-1]
        elif number and (name := checked_exercise(cell)):
            yield name, f"{number} {name}"
