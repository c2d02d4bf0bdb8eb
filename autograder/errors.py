"""What can go wrong, as one small tree. The text of an error is all that its reader gets to see."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

MOST_CHARACTERS = 400
CLEARED = "with its outputs cleared (menu Edit, Clear Outputs of All Cells) and saved, it can be handed in again"


def notebook_too_large(most: int) -> str:
    """Say that a notebook has more than so many bytes, and what to do about it."""
    return f"larger than {most // 2**20} MB: {CLEARED}"


def command(arguments: str) -> str:
    """Return a command as its reader can type it: `lessons` by its path where a terminal would not find it by name.

    That is so where make has started this, and in the terminals of a JupyterHub.

    Args:
        arguments: what follows `lessons`, such as `reset --lesson 01_a`.
    """
    if shutil.which("lessons") and "JUPYTERHUB_USER" not in os.environ:
        return f"lessons {arguments}"
    installed, folder = Path(sys.executable).with_name("lessons"), Path.cwd()
    return f"{installed.relative_to(folder) if installed.is_relative_to(folder) else installed} {arguments}"


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
        problem = f"There is no lesson {name!r}." if name else "Which lesson? Add --lesson … to the command."
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


class UnansweredError(SubmissionError):
    """A submission that cannot be read now: the file system that it is on does not answer, or says no use."""


class UnfinishedError(UnansweredError):
    """A submission that is still being copied, as far as one can see: what comes last is not there."""


class UnreleasedError(CourseError):
    """A page that is made, and cannot be released now: there is no room for it, for example."""


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
