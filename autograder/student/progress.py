"""What a student has done so far: one small file beside the lessons, written by `check`, sent nowhere."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from filelock import FileLock
from IPython.display import display

from ..errors import command
from ..judging.card import BORDER, BOX, CELL, TEXT_COLOR, number
from ..judging.verdict import Verdict
from ..paths import RECORD_NAME, progress_file, released_prints, replace_text
from .feedback import Graded, feedback_to_fetch, latest_feedback
from .release_record import TAKES, read_release_record
from .sharing import Note, notice
from .titles import titles_in

PASSED, TRIED, NOT_STARTED = "passed", "tried", "not started"
SIGNS = {PASSED: "✓", TRIED: "✗", NOT_STARTED: "○"}
BAR = 10  # characters
LOCK_SECONDS = 5.0
LEFT = CELL.replace("right", "left") + "vertical-align:top;"


def record_progress(exercise: str, verdict: Verdict) -> None:
    """Record an exercise's state. Where that is impossible, such as in a read-only folder, nothing happens."""
    path, lesson = progress_file(), Path.cwd().name
    if path is None:
        return
    state = PASSED if verdict.passed else TRIED if verdict.started else NOT_STARTED
    with contextlib.suppress(OSError), changing_progress(path) as states:
        states.setdefault(lesson, {})[exercise] = state


@contextlib.contextmanager
def changing_progress(path: Path) -> Iterator[dict[str, dict[str, str]]]:
    """Give what is recorded, and write it back as it is then; one kernel at a time.

    Raises:
        OSError: it cannot be written, or another kernel has kept it for too long.
    """
    with FileLock(path.with_name(f".{path.name}.lock"), timeout=LOCK_SECONDS):
        states = read_progress(path)
        yield states
        replace_text(path, json.dumps(states, indent=1) + "\n")


def read_progress(path: Path) -> dict[str, dict[str, str]]:
    """Return each lesson's exercises with their states; nothing where the file is missing or damaged."""
    try:
        states = json.loads(path.read_text(encoding="utf-8"))
        return {
            str(lesson): {str(e): s for e, s in done.items() if s in SIGNS} for lesson, done in dict(states).items()
        }
    except (OSError, ValueError, AttributeError, TypeError):
        return {}


@dataclass(frozen=True)
class ExerciseProgress:
    """One exercise on the start page."""

    name: str
    title: str  # its name after its number in the lesson, such as `2.3 attend`
    points: int  # how many it is worth; 0 where it is optional
    state: str  # what `check` has recorded
    graded: str = ""  # what it got when it was graded, such as `2 of 4`; '' where no feedback was fetched

    @property
    def outcome(self) -> str:
        """What came out here, and when it was graded."""
        points = number(self.points, "point") if self.points else "optional"
        graded = self.graded and self.points > 0
        return f"{self.state} here, graded {self.graded} points" if graded else f"{self.state}, {points}"


@dataclass(frozen=True)
class LessonProgress:
    """One lesson on the start page."""

    name: str  # the lesson's folder
    title: str
    minutes: int  # how long it takes
    exercises: tuple[ExerciseProgress, ...]  # what came out of each
    graded: Graded | None = None  # what the latest feedback says, where some was fetched
    news: tuple[str, ...] = ()  # sentences about what the student may not know

    @property
    def next(self) -> ExerciseProgress | None:
        """The first exercise that counts and is not passed; None where all are."""
        return next((each for each in self.exercises if each.points and each.state != PASSED), None)

    @property
    def begun(self) -> bool:
        """Whether anything was checked here."""
        return any(each.state != NOT_STARTED for each in self.exercises)

    @property
    def earned(self) -> int:
        """The points of the exercises whose checks have passed here."""
        return sum(each.points for each in self.exercises if each.state == PASSED)

    @property
    def points(self) -> int:
        """The points of all exercises."""
        return sum(each.points for each in self.exercises)

    @property
    def feedback(self) -> str:
        """What feedback says beside the points of exercises: of the whole, and of questions; '' where there is none."""
        if self.graded is None:
            return ""
        names = {each.name for each in self.exercises}
        rest = {title: got for title, got in self.graded.points.items() if title.split()[-1] not in names}
        others = (f"{title[0].upper()}{title[1:]}: {got}." for title, got in rest.items())
        return " ".join([self.graded.about, *others])

    def address(self, exercise: str = "") -> str:
        """Return the lesson's address from the start page, or that of one of its cells, as JupyterLab reads it."""
        return f"{self.name}/{self.name}.ipynb" + (f"#cell-id={exercise}" if exercise else "")


def lesson_progress(
    prints: Mapping[str, Any],
    states: Mapping[str, Mapping[str, str]],
    graded: Graded | None = None,
    news: Sequence[str] = (),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> LessonProgress:
    """Join a lesson's fingerprints.json with what was recorded here, what was graded, and the exercises' titles."""
    lesson, recorded = str(prints["lesson"]), states.get(str(prints["lesson"]), {})
    points = {title.split()[-1]: got for title, got in graded.points.items()} if graded else {}
    exercises = tuple(
        ExerciseProgress(
            name,
            titles.get(name, name),
            int(data["points"]),
            recorded.get(name, NOT_STARTED),
            points.get(name, ""),
        )
        for name, data in prints["exercises"].items()
    )
    return LessonProgress(lesson, str(prints["title"]), int(prints["minutes"]), exercises, graded, tuple(news))


class Overview:
    """The table of lessons, as text and as HTML in the colors of the page it is in."""

    def __init__(self, lessons: list[LessonProgress], note: Note | None = None) -> None:
        self._lessons = lessons
        self._note = note

    def __repr__(self) -> str:
        """Return what is to be read first, one line per lesson, and the next thing to do."""
        return "\n".join([*([repr(self._note)] if self._note else []), *map(row_text, self._lessons), self.following()])

    def next(self) -> LessonProgress | None:
        """Return the lesson to go on with: from the last one begun onwards, else one that was skipped."""
        last = max((index for index, lesson in enumerate(self._lessons) if lesson.begun), default=0)
        return next((lesson for lesson in self._lessons[last:] + self._lessons[:last] if lesson.next), None)

    def following(self) -> str:
        """Say what to do next."""
        lesson = self.next()
        if lesson is None or lesson.next is None:
            return "Everything that counts is passed."
        return f"Next: {lesson.next.title} in lesson {lesson.title}"

    def following_html(self) -> str:
        """Say what to do next, with a link to its cell."""
        lesson = self.next()
        if lesson is None or lesson.next is None:
            return escape(self.following())
        return f"Next: {link(lesson.address(lesson.next.name), lesson.next.title)} in lesson {escape(lesson.title)}"

    def _repr_html_(self) -> str:
        """Return the next thing to do, what is to be read before anything is sent, and a table."""
        rows = "".join(map(row_html, self._lessons))
        columns = "".join(f"<th scope='col' style='{LEFT}'>{h}</th>" for h in ("lesson", "time", "exercises", "points"))
        style = f"border-collapse:collapse;border:1px solid {BORDER};color:{TEXT_COLOR};"
        table = f"<table style='{style}'><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>"
        head = f"<strong>{self.following_html()}</strong>"
        note = self._note._repr_html_() if self._note else ""
        return f"<div style='{BOX}'>{head}{note}<div style='margin:8px 0'>{table}</div></div>"


def earned(lesson: LessonProgress) -> str:
    """Return how many of a lesson's points are earned."""
    return f"{lesson.earned} of {number(lesson.points, 'point')}"


def link(address: str, text: str) -> str:
    """Return a link as HTML."""
    return f"<a href='{escape(address)}'>{escape(text)}</a>"


def row_text(lesson: LessonProgress) -> str:
    """Return one lesson's line as text, and a line for each thing to read about it."""
    exercises = "; ".join(f"{SIGNS[each.state]} {each.title} {each.outcome}" for each in lesson.exercises)
    line = f"{lesson.title} ({lesson.minutes} min) {bar(lesson.earned, lesson.points)} {earned(lesson)}: {exercises}"
    graded = [f"Feedback: {lesson.feedback}"] if lesson.graded else []
    return "\n    ".join([line, *graded, *lesson.news])


def row_html(lesson: LessonProgress) -> str:
    """Return one lesson's line of the table."""
    exercises = "<br>".join(
        f"{SIGNS[each.state]} {link(lesson.address(each.name), each.title)} {each.outcome}" for each in lesson.exercises
    )
    if lesson.graded is not None:
        page = link(quote(lesson.graded.page), "Feedback")
        exercises += f"<p style='margin:4px 0'>{page}: {escape(lesson.feedback)}</p>"
    exercises += "".join(Note(words)._repr_html_() for words in lesson.news)
    cells = (
        link(lesson.address(), lesson.title),
        f"{lesson.minutes} min",
        exercises,
        f"<span aria-hidden='true'>{bar(lesson.earned, lesson.points)}</span><br>{earned(lesson)}",
    )
    return "<tr>" + "".join(f"<td style='{LEFT}'>{cell}</td>" for cell in cells) + "</tr>"


def bar(part: int, whole: int) -> str:
    """Return a share as a bar of characters, which no page's sanitizer takes away."""
    filled = BAR * part // max(whole, 1)
    return "█" * filled + "░" * (BAR - filled)


def news_of(lesson: str, newer: Collection[str], waiting: Collection[str]) -> list[str]:
    """Return what a student may not know about a lesson."""
    swap = command(f"reset --lesson {lesson}")
    return [
        *[f"There is a new version of this lesson: `{swap}`, in a terminal, {TAKES}."] * (lesson in newer),
        *["New feedback: fetch it in the menu Nbgrader, Assignment List, and run this cell again."]
        * (lesson in waiting),
    ]


def overview(start: Path | None = None) -> Overview:
    """Return all lessons with what is known about them."""
    path, waiting = progress_file(start), feedback_to_fetch()
    states = read_progress(path) if path else {}
    newer = read_release_record(path.with_name(RECORD_NAME))[1] if path else set[str]()
    released = {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in released_prints(start)}
    lessons = [
        lesson_progress(
            prints,
            states,
            latest_feedback(folder),
            news_of(folder.name, newer, waiting),
            titles_in(folder / f"{folder.name}.ipynb"),
        )
        for folder, prints in released.items()
    ]
    return Overview(lessons, notice())


def progress() -> None:
    """Show all lessons with what `check` has recorded here, what was graded, and what comes next."""
    display(overview())
