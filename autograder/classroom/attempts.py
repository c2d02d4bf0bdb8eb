"""What came of each time that a student handed a lesson in: one small file per student and lesson."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from shutil import rmtree
from typing import Any

from ..errors import CourseError
from ..paths import Course, Lesson, replace_text
from .rules import Rules
from .submissions import changing_submissions, is_odd

GRADED, LEFT_OUT, REFUSED = "graded", "left out", "needs a person"
USED = "graded and forgotten"
OPEN, FULL = "open", "full"
COPIES = ".copies"  # no student's id begins with a dot
FORGOTTEN = "It was graded, and what came of it is forgotten."


@dataclass(frozen=True)
class Attempt:
    """One time that a student handed in."""

    delivery: str  # what tells it from all others: the folder's name in the exchange, or where it was in the inbox
    arrived: str = ""  # when, UTC, as nbgrader writes times; '' where it was not taken
    status: str = GRADED
    note: str = ""  # why it was not graded
    submission: str = ""  # the checksum of the notebook, where it has run or is left out
    exercises: Mapping[str, int] = field(default_factory=dict)  # each one's points
    of: int = 0  # how many points there are
    timed: bool = True  # whether that is when its student handed it in, and not when a teacher filled the inbox
    late: bool = False  # whether it was late, as whoever took it says
    penalty: float = 0.0  # what is taken off for that by the rules as they are now; never written down
    flags: Sequence[str] = field(default_factory=list)  # what a person should look at
    released: str = ""  # which feedback its student can fetch: '', `open` or `full`

    @property
    def points(self) -> float:
        """The points of all exercises, less what is taken off for being late."""
        return sum(self.exercises.values()) - self.penalty

    @property
    def when(self) -> datetime | None:
        """When it arrived, UTC, where that is known."""
        return datetime.fromisoformat(self.arrived) if self.arrived else None

    def penalty_by(self, rules: Rules, student: str) -> float:
        """What its student loses for being late."""
        return rules.penalty(student, float(sum(self.exercises.values())), self.when if self.timed else None, self.late)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do about it."""
        return self.status != GRADED or bool(self.released)

    @property
    def forgotten(self) -> Attempt:
        """What stays when its student is forgotten: that it is not graded once more, and whether it was one of some."""
        return Attempt(self.delivery, status=USED if self.status in (GRADED, USED) else LEFT_OUT, note=FORGOTTEN)


def read_attempts(course: Course, lesson: Lesson, student: str, rules: Rules | None = None) -> list[Attempt]:
    """Return a student's attempts at a lesson, the first one first.

    Args:
        course: the course.
        lesson: the lesson.
        student: the student's id.
        rules: what is taken off for being late; None where that makes no difference.

    Raises:
        CourseError: the file is damaged.
    """
    path = course.attempts_of(lesson, student)
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        attempts = [Attempt(**record) for record in records]
        return [replace(each, penalty=each.penalty_by(rules, student)) for each in attempts] if rules else attempts
    except FileNotFoundError:
        return []
    except (ValueError, TypeError) as error:
        raise CourseError(f"{lesson.shown(path)} is damaged: delete it. What counted stays") from error


def write_attempts(course: Course, lesson: Lesson, student: str, *new: Attempt, again: bool = False) -> None:
    """Record attempts, each in place of what was recorded about the same delivery.

    Args:
        course: the course.
        lesson: the lesson.
        student: the student's id.
        new: the attempts.
        again: they were recorded before: whose student was forgotten meanwhile stays forgotten.
    """
    path = course.attempts_of(lesson, student)
    with changing_submissions(course):
        known = {attempt.delivery: attempt for attempt in read_attempts(course, lesson, student)}
        for attempt in new:
            kept = not again or known.get(attempt.delivery, attempt.forgotten).note != FORGOTTEN
            known[attempt.delivery] = attempt if kept else attempt.forgotten
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, as_text(known.values()))
    for attempt in new:
        if attempt.finished:
            remove_copy(course, student, attempt.delivery)


def course_of_copy(course: Course, student: str, delivery: str) -> Course:
    """Return the course as it is for one thing that was handed in and waits, copied, to be graded."""
    return replace(course, attempt=f"{COPIES}/{student}/{digest_of(delivery)}")


def digest_of(delivery: str) -> str:
    """Return what stands for a delivery in file names and files: whose it is does not show in it."""
    return sha256(delivery.encode("utf-8", "surrogateescape")).hexdigest()


def remove_copy(course: Course, student: str, delivery: str) -> None:
    """Remove the copy of what was handed in, if there is one."""
    kept = course_of_copy(course, student, delivery)
    rmtree(course.attempts / kept.attempt, ignore_errors=True)


def as_text(attempts: Iterable[Attempt]) -> str:
    """Return attempts as a file holds them."""
    records = [{name: value for name, value in asdict(each).items() if name != "penalty"} for each in attempts]
    return json.dumps(records, indent=1) + "\n"


def forget_attempts(course: Course, student: str) -> int:
    """Delete what is noted about a student's attempts, but for the names of what is not to be graded once more.

    Returns:
        of how many lessons something was noted.
    """
    folder, lessons = course.attempts / student, 0
    if is_odd(student) or folder.parent != course.attempts:  # no student's: it could be anybody's folder
        return 0
    for left in (course.attempts / COPIES / student, *folder.glob("*/")):  # of a service that was killed
        rmtree(left, ignore_errors=True)
    with changing_submissions(course):
        for path in folder.glob("*.*"):
            try:
                attempts = read_attempts(course, course.lesson(path.stem), student)
            except CourseError:  # damaged, or of a lesson that is gone
                attempts = []
            done = [each for each in attempts if each.finished]
            bare = [each.forgotten for each in done]
            lessons += attempts != bare or not bare
            replace_text(path, as_text(bare)) if bare and path.suffix == ".json" else path.unlink()
        with suppress(OSError):  # something is left in it, or there is none
            folder.rmdir()
    return lessons


def graded_attempts(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return those that were graded."""
    return [attempt for attempt in attempts if attempt.status == GRADED]


def counting(attempts: Sequence[Attempt], best: bool) -> Attempt | None:
    """Return the attempt that counts: the best one (of several the latest), or the last; None for none."""
    candidates = graded_attempts(attempts)
    if not candidates:
        return None
    return max(reversed(candidates), key=lambda attempt: attempt.points) if best else candidates[-1]


def changes(attempts: Sequence[Attempt]) -> list[str]:
    """Return a line for each graded attempt: its points, and each exercise that got others than before."""
    lines, before = [], dict[str, int]()
    for number, attempt in enumerate(graded_attempts(attempts), 1):
        moved = [
            f"{name} {before[name]} → {points}"
            for name, points in attempt.exercises.items()
            if before.get(name, points) != points
        ]
        late = f", {attempt.penalty:g} off for being late" if attempt.penalty else ""
        changed = f": {', '.join(moved)}" if moved else ": no other points" if before else ""
        lines.append(f"{number}. {attempt.points:g} of {attempt.of}{late}{changed}")
        before = dict(attempt.exercises)
    return lines


def flagged(attempts: Sequence[Attempt], shown: Sequence[str]) -> list[str]:
    """Return what a person should look at in any attempt, beside what is shown of the one that counts."""
    found = dict.fromkeys(flag for attempt in attempts for flag in attempt.flags if flag not in shown)
    return [f"{flag} (in an attempt that does not count)" for flag in found]


def about(
    attempts: Sequence[Attempt], submission: str, best: bool, apart: bool = False
) -> tuple[Attempt | None, list[str]]:
    """Return a student's attempt with that submission, and what its feedback says about it beside the others.

    Of several with the same submission, it is the latest that was graded apart, as it does not count, or the one that
    counts.
    """
    done, chosen = graded_attempts(attempts), counting(attempts, best)
    same = [attempt for attempt in done if attempt.submission == submission and (attempt is not chosen or not apart)]
    own = chosen if chosen in same else next(reversed(same), None)
    if own is None or chosen is None:
        return None, []
    number = done.index(own) + 1
    if own is chosen:
        return own, [f"Attempt {number}. It counts{', being the best so far' if best and number > 1 else ''}."]
    which = f"attempt {done.index(chosen) + 1} counts, with {chosen.points:g} of {chosen.of} points for the exercises"
    return own, [f"Attempt {number}. It does not count: {which}."]


def points_in(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a graded notebook's record says of points, as an attempt has it."""
    verdicts: Mapping[str, Mapping[str, Any]] = record["verdicts"]
    points = {name: int(verdict["points"]) for name, verdict in verdicts.items()}
    return {"exercises": points, "of": sum(int(verdict["of"]) for verdict in verdicts.values())}
