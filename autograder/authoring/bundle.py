"""What students get: lessons, the package, and nothing of the instructor's."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

from ..errors import CourseError
from ..paths import Course

FOLDER = "attention-lessons"
PARTS = ("notebooks", "autograder", "pyproject.toml", "constraints.txt", "environment.yml", "Makefile", "README.md")
STAMP = (2026, 1, 1, 0, 0, 0)  # the same files give the same bytes


def make_bundle(course: Course) -> Path:
    """Write dist/attention-lessons.zip from the committed or changed files that git knows; return its path.

    Raises:
        CourseError: the course is not a git checkout, so nobody knows which files belong to it.
    """
    files = known_files(course)
    course.bundle.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(course.bundle, "w") as archive:
        for name in files:
            add(archive, name, (course.root / name).read_bytes())
        add(archive, course.originals.name, originals(course, files))
    return course.bundle


def known_files(course: Course) -> list[str]:
    """Return the files of the student's parts that git tracks: no progress, no old work, no caches."""
    done = subprocess.run(["git", "ls-files", "-z", *PARTS], cwd=course.root, capture_output=True, check=False)
    names = [name for name in done.stdout.decode().split("\0") if name and (course.root / name).is_file()]
    if done.returncode or not names:
        raise CourseError("`make bundle` takes the files that git tracks, and this folder is no git checkout.")
    return sorted(names)


def originals(course: Course, files: list[str]) -> bytes:
    """Return the notebooks once more, as an archive: `make reset` takes them from there."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in files:
            if name.endswith(".ipynb"):
                add(archive, name, (course.root / name).read_bytes(), folder="")
    return buffer.getvalue()


def add(archive: zipfile.ZipFile, name: str, content: bytes, folder: str = FOLDER + "/") -> None:
    """Add one file with a fixed date."""
    entry = zipfile.ZipInfo(folder + name, STAMP)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, content)
