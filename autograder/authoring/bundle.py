"""What students get: lessons as the build wrote them, what those import, and nothing of the instructor's."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

from ..errors import CourseError, command
from ..paths import STUDENT_FOLDER, Course, file_digest, packed_lessons
from .index import index_text
from .lesson_package import package_of
from .manifest import read_sums

STAMP = (2026, 1, 1, 0, 0, 0)
# what a student's copy of the package holds: no grading, no authoring, no classroom
PARTS = (
    *(f"autograder/{name}.py" for name in ("__init__", "__main__", "checks", "errors", "paths")),
    *(f"autograder/{layer}" for layer in ("judging", "plot", "student")),
    *("pyproject.toml", "constraints.txt", "environment.yml", "Makefile", "LICENSE", "LICENSE-lessons"),
)
README = "docs/students.md"
# the lessons travel inside the package: whoever unzips a new bundle over an old one overwrites nobody's work
PACKED = packed_lessons().relative_to(Path(__file__).parents[2]).as_posix()


def make_bundle(course: Course) -> Path:
    """Write dist/attention-lessons.zip; return its path.

    Lessons are made from their sources, so whatever was done to the released notebooks stays here.

    Raises:
        CourseError: the course is not a git checkout, so nobody knows which files belong to it; or a lesson has changed
            since its last build.
    """
    files = {name: (course.root / name).read_bytes() for name in known_files(course)}
    files["README.md"] = (course.root / README).read_bytes()
    files[PACKED] = zipped(released_notebooks(course) | released_data(course))
    course.bundle.parent.mkdir(exist_ok=True)
    course.bundle.write_bytes(zipped({f"{STUDENT_FOLDER}/{name}": content for name, content in files.items()}))
    return course.bundle


def known_files(course: Course) -> list[str]:
    """Return the files of the student's parts that git tracks: no progress, no old work, no caches."""
    try:
        done = subprocess.run(["git", "ls-files", "-z", *PARTS], cwd=course.root, capture_output=True, check=True)
        listing = done.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):
        listing = []
    names = [name for name in listing if name and (course.root / name).is_file()]
    if not names:
        raise CourseError(
            f"`{command('bundle')}` takes the files that git tracks, and this folder is not a git checkout."
        )
    return names


def released_notebooks(course: Course) -> dict[str, bytes]:
    """Return the start page and every lesson's notebook, by path, as a build writes them."""
    texts = {course.index: index_text(course)}
    texts |= {lesson.released_dir / lesson.notebook_name: package_of(lesson).released for lesson in course.lessons()}
    return {path.relative_to(course.root).as_posix(): text.encode() for path, text in texts.items()}


def released_data(course: Course) -> dict[str, bytes]:
    """Return what lies beside the notebooks. Raises CourseError where that is not what the last build wrote."""
    contents = {}
    for lesson in course.lessons():
        built = read_sums(lesson.manifest)
        for path in (
            *(lesson.released_dir / written.name for written in lesson.released_files),
            lesson.fingerprints_json,
        ):
            name = lesson.shown(path)
            fresh = path == lesson.fingerprints_json or path.read_bytes() == (lesson.folder / path.name).read_bytes()
            if built.get(name) != file_digest(path) or not fresh:
                raise CourseError(
                    f"{name} is not what the lesson says now: `{command(f'build --lesson {lesson.name}')}` first."
                )
            contents[name] = path.read_bytes()
    return contents


def zipped(files: dict[str, bytes]) -> bytes:
    """Return files as an archive. The same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            add(archive, name, files[name])
    return buffer.getvalue()


def add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add one file with a fixed date."""
    entry = zipfile.ZipInfo(name, STAMP)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, content)
