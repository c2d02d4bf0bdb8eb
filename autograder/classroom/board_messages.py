"""What students' checks tell the board, read with suspicion: every field has a form, a size and a range."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..paths import Course
from ..student.telling import MOST_CODE
from ..student.titles import titles_in
from .board_state import Try, known_name, message_words

TRIES_OF_A_REQUEST = 50  # of one request
OLDEST = 60 * 86_400.0  # seconds
ID = re.compile(r"[0-9a-f]{32}")
MESSAGE = re.compile(r"[A-Za-z0-9_:.~-]{1,80}")
ALLOWANCE, PER_SECOND = 1000.0, 0.2  # of one student: tries, and requests by their size
OWN_ROWS_COST = 50  # of that allowance, to read all that is kept about oneself
BYTES_LIKE_A_TRY = 10_000  # of a request, to read it


@dataclass(frozen=True)
class Catalog:
    """The lessons as they were released."""

    lessons: Mapping[str, Mapping[str, Any]]  # the content of each one's fingerprints.json, by name
    titles: Mapping[str, Mapping[str, str]]  # what exercises are called that have a number, by lesson and name

    @classmethod
    def of(cls, course: Course) -> Catalog:
        """Return a course's, as its files are now; they are read again when they have changed."""
        files = [lesson.fingerprints_json for lesson in course.lessons() if lesson.fingerprints_json.is_file()]
        return read_catalog(tuple((path, path.stat().st_mtime_ns) for path in files))

    def __contains__(self, lesson: str) -> bool:
        return lesson in self.lessons

    def exercises(self, lesson: str) -> list[str]:
        """Return the names of a lesson's exercises, in order; none where there is no such lesson."""
        return list(self.lessons.get(lesson, {}).get("exercises", {}))

    def columns(self, lesson: str) -> list[str]:
        """Return what these exercises are called, with their numbers."""
        return [self.titles[lesson].get(name, name) for name in self.exercises(lesson)]

    def words(self, lesson: str, exercise: str, message: str) -> tuple[str, bool]:
        """Return what a message's id stands for, and whether it is a mistake that has a name."""
        written = self.written(lesson, exercise)
        return message_words(message, written), message in written

    def written(self, lesson: str, exercise: str) -> Mapping[str, str]:
        """Return the words of an exercise's mistakes that have a name."""
        messages: Mapping[str, str] = self.lessons[lesson]["exercises"].get(exercise, {}).get("messages", {})
        return messages


@lru_cache(maxsize=1)
def read_catalog(files: tuple[tuple[Path, int], ...]) -> Catalog:
    """Read each lesson's fingerprints.json, given with the time of its last change."""
    prints = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path, _ in files}
    return Catalog(
        prints, {path.parent.name: titles_in(path.with_name(f"{path.parent.name}.ipynb")) for path, _ in files}
    )


class Allowance:
    """How much each student or account may still do: so much at once, and then so much a second."""

    def __init__(self, most: float = ALLOWANCE, per_second: float = PER_SECOND) -> None:
        self._most, self._per_second = most, per_second
        self._left: dict[str | int, tuple[float, float]] = {}

    def spend(self, who: str | int, amount: int) -> bool:
        """Take an amount from somebody's allowance; say whether there was enough."""
        now = time.monotonic()
        left, then = self._left.get(who, (self._most, now))
        left = min(self._most, left + self._per_second * (now - then))
        enough = left >= amount
        self._left[who] = (left - amount if enough else left, now)
        return enough


def reading_costs(body: bytes) -> int:
    """Return what reading a request takes of its sender's allowance, whatever is in it."""
    return 1 + len(body) // BYTES_LIKE_A_TRY


def told_in(body: bytes, student: str, catalog: Catalog, now: float) -> tuple[list[Try], int]:
    """Read a request; return its tries, and how many things in it are none.

    The student is who its token belongs to: nothing in the body, JSON with a list under `tries`, says whose it is.
    """
    try:
        things = json.loads(body)["tries"][:TRIES_OF_A_REQUEST]
        read = [told_by(thing, student, catalog, now) for thing in things]
    except (ValueError, TypeError, KeyError, RecursionError):
        return [], 1
    return [one for one in read if one], sum(one is None for one in read)


def told_by(thing: Any, student: str, catalog: Catalog, now: float) -> Try | None:
    """Return one try, or None where something about it is not as `check` sends it."""
    if not isinstance(thing, dict):
        return None
    texts = [thing.get(name) for name in ("id", "lesson", "exercise", "message")]
    if not all(isinstance(text, str) for text in texts):
        return None
    name, lesson, exercise, message = map(str, texts)
    passed, moment, code = thing.get("passed"), seconds(thing.get("time")), thing.get("code")
    known = bool(ID.fullmatch(name)) and exercise in catalog.exercises(lesson)
    if not known or not isinstance(passed, bool) or moment is None or moment < now - OLDEST:
        return None
    if not passed and not MESSAGE.fullmatch(message):
        return None
    shown = "" if passed else known_name(message, catalog.written(lesson, exercise))
    return Try(student, exercise, passed, shown, min(moment, now), clean_code(code), lesson, name)


def seconds(value: Any) -> float | None:
    """Return a moment, or None where it is none."""
    try:
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    except OverflowError:
        return None


def clean_code(value: Any) -> str | None:
    """Return code as a database keeps it: cut where it is long, without what is no character; None for none."""
    text = value[:MOST_CODE] if isinstance(value, str) else ""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "") or None
