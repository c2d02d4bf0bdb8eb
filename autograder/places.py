"""Where a student's files are, as seen from a running notebook."""

from __future__ import annotations

from pathlib import Path

from .errors import CourseError
from .lessons import INDEX_NAME, PROGRESS_NAME


def student_files(start: Path | None = None) -> tuple[Path, Path]:
    """Return a lesson's checks.py and fingerprints.json, as seen from a running notebook.

    A notebook runs in its own folder. The solved notebook beside lesson.py uses the released files.
    """
    here = (start or Path.cwd()).resolve()
    released = here.parent.parent / "notebooks" / here.name
    for folder in (here, released):
        checks, prints = folder / "checks.py", folder / "fingerprints.json"
        if checks.is_file() and prints.is_file():
            return checks, prints
    raise CourseError(
        f"No checks.py with fingerprints.json in {here.name}/. Open the notebook from its own lesson folder, "
        "where both files lie beside it."
    )


def released_prints(start: Path | None = None) -> list[Path]:
    """Return each released lesson's fingerprints.json, as seen from the start page's folder or from a lesson's."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, here.parent):
        if (folder / INDEX_NAME).is_file():
            return sorted(folder.glob("[0-9]*/fingerprints.json"))
    return sorted(here.glob("fingerprints.json"))


def progress_file(start: Path | None = None) -> Path | None:
    """Return where a student's progress is kept, or None where nothing is released, as beside the solutions."""
    here = (start or Path.cwd()).resolve()
    if (here / INDEX_NAME).is_file():
        return here / PROGRESS_NAME
    if not (here / "fingerprints.json").is_file():
        return None
    return (here.parent if (here.parent / INDEX_NAME).is_file() else here) / PROGRESS_NAME
