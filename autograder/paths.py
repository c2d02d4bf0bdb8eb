"""Where everything is: lessons, a class's data, and what lies beside a running notebook.

What concerns one layer alone, such as where the sandbox keeps its files, is in that layer.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from .errors import CourseError, UnknownLessonError

CONFIG_NAME = "nbgrader_config.py"
INDEX_NAME = "index.ipynb"
PROGRESS_NAME = "progress.json"
RECORD_NAME = ".released.json"
STUDENT_FOLDER = "attention-lessons"  # what a student's copy is called, as a zip and on disk
DATA_SUFFIXES = (".txt", ".xz", ".safetensors")


class Below:
    """A path below the root of a lesson or a course, whose own fields may stand in it: `solutions/{name}`."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, owner: Lesson | Course, _type: object = None) -> Path:
        return owner.root / self._path.format_map(vars(owner))


@dataclass(frozen=True)
class Lesson:
    """One lesson: its name and where each of its files is."""

    name: str
    root: Path

    folder = Below("solutions/{name}")  # what an author writes
    lesson_py = Below("solutions/{name}/lesson.py")  # the lesson itself, a jupytext percent script
    checks_py = Below("solutions/{name}/checks.py")  # the checks that a student can run
    hidden_py = Below("solutions/{name}/hidden.py")
    mistakes_py = Below("solutions/{name}/mistakes.py")  # edits of the solutions; a lesson may do without
    variants_py = Below("solutions/{name}/variants.py")  # right answers written another way, as edits of the solutions
    solved_ipynb = Below("solutions/{name}/{name}.ipynb")  # with outputs
    manifest = Below("solutions/{name}/generated.json")  # what the last build wrote, as checksums
    replacing = Below("build/replacing/{name}.json")  # what a build is about to write; there while it writes
    nbgrader_source_dir = Below("build/source/{name}")  # from which nbgrader releases the lesson
    released_dir = Below("notebooks/{name}")  # what students get
    fingerprints_json = Below("notebooks/{name}/fingerprints.json")  # what students are given of the answers

    @property
    def secret_files(self) -> list[Path]:
        """What no student gets to see, beside the lesson itself."""
        return [path for path in (self.hidden_py, self.mistakes_py, self.variants_py) if path.is_file()]

    @property
    def module_files(self) -> list[Path]:
        """Further modules that the notebook imports, which students get too: a model too long for a cell, say."""
        own = {self.lesson_py, self.checks_py, self.hidden_py, self.mistakes_py, self.variants_py}
        return sorted(path for path in self.folder.glob("*.py") if path not in own)

    @property
    def data_files(self) -> list[Path]:
        """What the notebook reads and students get: a text to learn from, a model's parameters. Never code."""
        return sorted(path for path in self.folder.glob("*") if path.suffix in DATA_SUFFIXES)

    @property
    def released_files(self) -> list[Path]:
        """Every file that lies beside the released notebook as its author wrote it."""
        return [self.checks_py, *self.module_files, *self.data_files]

    @property
    def written_files(self) -> list[Path]:
        """All that an author writes, as far as it is there."""
        return [self.lesson_py, *self.released_files, *self.secret_files]

    @property
    def notebook_name(self) -> str:
        """The file name of the notebook, which students hand in."""
        return f"{self.name}.ipynb"

    def shown(self, path: Path) -> str:
        """Return a path as a message should show it, relative to the course."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else str(path)


@dataclass(frozen=True)
class Course:
    """A course's folder: lessons, and the instructor's data under `coursework/`.

    Args:
        root: the folder.
        shard: the part of a class, such as `2-of-8`, whose graded notebooks are kept apart until they are merged; ''
            outside of a job array.
        attempt: a folder below `attempts`, for one submission that is graded apart from the others; '' for all others.
    """

    root: Path
    shard: str = ""
    attempt: str = ""

    coursework = Below("coursework")  # everything that belongs to a class; never deleted by any command
    attempts = Below("coursework/attempts")  # what was graded at hand-in, and what is being graded
    inbox = Below("coursework/inbox")  # where work is put by hand to be graded at once
    shards = Below("coursework/shards")  # what the tasks of a job array have graded, a folder for each
    downloaded = Below("coursework/downloaded")  # archives as they came from the LMS
    reports = Below("coursework/reports")  # pages about a whole class
    handin = Below("handin")  # where a student's finished notebooks are put for upload
    release_record = Below(f"notebooks/{RECORD_NAME}")  # to which release a student's copy was last brought up
    build = Below("build")  # what can be made again at any time
    bundle = Below(f"dist/{STUDENT_FOLDER}.zip")  # what students are given
    site = Below("build/site")  # the lessons as a website
    site_source = Below("build/site-source")  # what the website is made from
    template = Below("solutions/_template")  # what a new lesson begins as
    readme = Below("README.md")
    documents = Below("docs")  # what students and instructors read beside the lessons
    index = Below(f"notebooks/{INDEX_NAME}")  # the students' start page
    index_source = Below("solutions/index.py")  # what the start page is made from

    @property
    def _work(self) -> Path:
        return self.attempts / self.attempt if self.attempt else self.coursework

    @property
    def submitted(self) -> Path:
        """Nbgrader's directory of submissions."""
        return self._work / "submitted"

    @property
    def autograded(self) -> Path:
        """Nbgrader's directory of graded notebooks, or a shard's own."""
        return (self.shards / self.shard if self.shard else self._work) / "autograded"

    @property
    def feedback(self) -> Path:
        """Nbgrader's directory of feedback pages."""
        return self._work / "feedback"

    def submission(self, lesson: Lesson, student: str) -> Path:
        """A student's notebook as it was handed in."""
        return self.submitted / student / lesson.name / lesson.notebook_name

    def graded_notebook(self, lesson: Lesson, student: str) -> Path:
        """A student's graded notebook."""
        return self.autograded / student / lesson.name / lesson.notebook_name

    def feedback_page(self, lesson: Lesson, student: str) -> Path:
        """A student's feedback."""
        return self.feedback / student / lesson.name / f"{lesson.name}.html"

    def attempts_of(self, lesson: Lesson, student: str) -> Path:
        """A student's attempts at a lesson, and what came of them."""
        return self.attempts / student / f"{lesson.name}.json"

    def refusal(self, lesson: Lesson, student: str) -> Path:
        """Why a student's submission could not be read, as it was then."""
        return self.coursework / "refused" / student / f"{lesson.name}.json"

    def left_out(self, lesson: Lesson) -> Path:
        """What was left out when a lesson was collected, and why, by where it came from."""
        return self.coursework / "left_out" / f"{lesson.name}.json"

    def drafts(self, lesson: Lesson) -> Path:
        """Mistakes drafted from what students wrote, which no command loads."""
        return self.coursework / "drafts" / f"{lesson.name}.py"

    def lessons(self) -> list[Lesson]:
        """Return all lessons in order: folders with a lesson.py, or as students have them, released ones."""
        paths = sorted((self.root / "solutions").glob("[0-9]*/lesson.py"))
        paths = paths or sorted((self.root / "notebooks").glob("[0-9]*/fingerprints.json"))
        return [Lesson(path.parent.name, self.root) for path in paths]

    def lesson(self, name: str) -> Lesson:
        """Return one lesson. Raises UnknownLessonError with the names that exist."""
        known = {lesson.name: lesson for lesson in self.lessons()}
        if name not in known:
            raise UnknownLessonError(name, list(known))
        return known[name]

    def students(self, lesson: Lesson) -> list[str]:
        """Return who has handed a lesson in."""
        folders = self.submitted.glob(f"*/{lesson.name}")
        return sorted(folder.parent.name for folder in folders if folder.is_dir())

    def chosen(self, name: str | None) -> list[Lesson]:
        """Return the named lesson, or all of them where no name is given."""
        return [self.lesson(name)] if name else self.lessons()


def find_course(start: Path | None = None) -> Course:
    """Return the course that contains `start`, by default the working directory."""
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents, start / STUDENT_FOLDER):
        if is_course(folder):
            return Course(folder)
    raise CourseError(f"{start} is not inside the course's folder: run the command from there.")


def is_course(folder: Path) -> bool:
    """Say whether a folder is a course, or a student's copy: a start page alone is anybody's, and so is a config."""
    if (folder / CONFIG_NAME).is_file() and (folder / "solutions").is_dir():
        return True
    index = Course(folder).index
    return index.is_file() and any(index.parent.glob("[0-9]*/fingerprints.json"))


def packed_lessons() -> Path:
    """Return the released lessons as a student's copy of the package carries them; an instructor's has none."""
    return Path(__file__).parent / "student" / "lessons.zip"


def replace_text(path: Path, text: str) -> None:
    """Write a text file at once, as `replace_bytes` does."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path, content: bytes) -> None:
    """Write a file at once, also in place of a read-only one.

    No reader ever sees half of it, and where that fails nothing is left behind.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, which may be larger than the memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(*paths: Path) -> str:
    """Return a checksum of files' contents."""
    return hashlib.sha256(b"".join(hashlib.sha256(p.read_bytes()).digest() for p in paths)).hexdigest()


def student_files(start: Path | None = None) -> tuple[Path, Path]:
    """Return a lesson's checks.py and fingerprints.json, as seen from a running notebook.

    A notebook runs in its own folder. The solved notebook beside lesson.py uses the released files.
    """
    cwd = (start or Path.cwd()).resolve()
    released = cwd.parent.parent / "notebooks" / cwd.name
    for folder in (cwd, released):
        checks, prints = folder / "checks.py", folder / "fingerprints.json"
        if checks.is_file() and prints.is_file():
            return checks, prints
    raise CourseError(
        f"No checks.py with fingerprints.json in {cwd.name}/. Open the notebook from its own lesson folder, "
        "where both files lie beside it."
    )


def released_prints(start: Path | None = None) -> list[Path]:
    """Return each released lesson's fingerprints.json, as seen from the start page's folder or from a lesson's."""
    cwd = (start or Path.cwd()).resolve()
    for folder in (cwd, cwd.parent):
        if (folder / INDEX_NAME).is_file():
            return sorted(folder.glob("[0-9]*/fingerprints.json"))
    return sorted(cwd.glob("fingerprints.json"))


def progress_file(start: Path | None = None) -> Path | None:
    """Return where a student's progress is kept, or None where nothing is released, as beside the solutions."""
    cwd = (start or Path.cwd()).resolve()
    if (cwd / INDEX_NAME).is_file():
        return cwd / PROGRESS_NAME
    if not (cwd / "fingerprints.json").is_file():
        return None
    return (cwd.parent if (cwd.parent / INDEX_NAME).is_file() else cwd) / PROGRESS_NAME
