"""What can go wrong, as one small tree. The text of an error is all that its reader gets to see."""

from __future__ import annotations

import os
import sys
from pathlib import Path

MOST_CHARACTERS = 400
CLEARED = "with its outputs cleared (menu Edit, Clear Outputs of All Cells) and saved, it can be handed in again"
MAKE_SPELLING = {
    "lesson --lesson ": "lesson NAME=",
    "--lesson ": "LESSON=",
    "--exercise ": "EXERCISE=",
    "--shard ": "SHARD=",
    "--from ": "FROM=",
    "--jobs ": "JOBS=",
    "--executor ": "EXECUTOR=",
    "--automatic": "AUTOMATIC=1",
    "grade --": "grade GRADE_ARGS=--",
    "merge --": "merge MERGE_ARGS=--",
}


def notebook_too_large(most: int) -> str:
    """Say that a notebook has more than so many bytes, and what to do about it."""
    return f"larger than {most // 2**20} MB: {CLEARED}"


def command(arguments: str) -> str:
    """Return a command as its reader can type it: with make where make has started this, else as `lessons …`.

    Lessons that were installed with pip come without a Makefile; with make, `lessons` need not be on the path, and in a
    terminal of a JupyterHub it is not.

    Args:
        arguments: what follows `lessons`, such as `reset --lesson 01_a`.
    """
    on_hub = "JUPYTERHUB_USER" in os.environ
    installed = Path(sys.executable).with_name("lessons") if on_hub else "lessons"
    return f"{'make' if by_make() else installed} {options(arguments)}"


def options(text: str) -> str:
    """Return options of the command line as their reader can type them."""
    for spelled, by_make_spelled in MAKE_SPELLING.items() if by_make() else ():
        text = text.replace(spelled, by_make_spelled)
    return text


def by_make() -> bool:
    """Say whether make has started this process, or JupyterLab around it."""
    return "MAKELEVEL" in os.environ


class CourseError(Exception):
    """Something that the person at the keyboard can fix."""

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between processes as a text, whatever made it."""
        return restored, (type(self), str(self))


def restored(error_type: type[CourseError], text: str) -> CourseError:
    """Return an error that came from another process."""
    error = error_type.__new__(error_type)
    error.args = (text,)
    return error


class UnknownLessonError(CourseError):
    """A lesson that does not exist was asked for."""

    def __init__(self, name: str, known: list[str]) -> None:
        listing = ", ".join(known) or f"none yet; `{command('lesson --lesson …')}` starts one"
        problem = (
            f"There is no lesson {name!r}." if name else f"Which lesson? Add {options('--lesson …')} to the command."
        )
        super().__init__(f"{problem} Lessons: {listing}.")


class LessonError(CourseError):
    """A lesson's files do not fit together."""

    def __init__(self, file: Path | str, problem: str, remedy: str = "") -> None:
        super().__init__(f"{file}: {problem} {remedy}".rstrip())


class EditedByHandError(CourseError):
    """A generated file was edited, so a build would destroy that edit."""

    def __init__(self, file: Path | str, belongs: Path | str) -> None:
        super().__init__(
            f"{file} is generated, but was edited by hand, so it was not overwritten. "
            f"A change belongs in {belongs}. Keep a copy of your edit if you need it, "
            f"then `rm {file}` and `{command('build')}`."
        )


class SubmissionError(CourseError):
    """A submission that cannot be graded as it is; a person has to look at it."""


class SandboxError(CourseError):
    """The process that runs a submission's code was lost."""


class ScarcityError(CourseError):
    """A submission was ended because the computer had no memory left. That says nothing about its points."""

    def __init__(self) -> None:
        super().__init__("it ran until the computer had no memory left; run alone, it may fare better")


class LongRunError(CourseError):
    """A submission needs more time than this run of it was given. That says nothing about its points."""


class GradebookError(CourseError):
    """The gradebook cannot be used now. No student's submission can be the reason."""


class StoppedError(CourseError):
    """The run was stopped before a submission was graded."""

    def __init__(self) -> None:
        super().__init__("stopped before it was graded")


class NoSandboxError(SandboxError):
    """Submissions cannot be isolated here, and nobody allowed to go on without that."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"Submissions cannot be isolated here: {reason}. Without isolation, their code runs with your permissions: "
            "it can read and change your files, see solutions and the gradebook, use the network, and leave processes "
            "behind; memory and processes are not limited. Values are still compared outside their process. To grade "
            f"people you trust: `{command('grade --allow-unsandboxed')}`."
        )


class ClusterError(CourseError):
    """The computers that grade cannot be used, or were lost. That says nothing about a submission."""


class CheckFailed(AssertionError):  # noqa: N818 - a student reads this name in every traceback
    """An exercise's check did not pass. Its text is the message for the student."""

    def _render_traceback_(self) -> list[str]:
        """Show the message alone, in JupyterLab, in Validate and in `nbgrader validate`."""
        return [f"{type(self).__name__}: {self}"]


class NotStarted(CheckFailed):
    """The exercise still raises NotImplementedError. No card is shown beside it: this line says it all."""

    def _render_traceback_(self) -> list[str]:
        """Say it as the card of a started exercise begins."""
        return [f"○ {self}"]


def one_line(text: str) -> str:
    """Return the beginning of a text, without line breaks or control characters."""
    return "".join(c if c.isprintable() else " " for c in text)[:MOST_CHARACTERS]


def escaped(name: str) -> str:
    """Return a name that somebody else has chosen, with what a terminal would obey shown as an escape."""
    characters = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in name[:MOST_CHARACTERS])
    return "".join(characters)
