"""When and how often a lesson may be handed in, what counts, and what its feedback shows: read from nbgrader_config.py.

All times are UTC without a zone, as nbgrader keeps them. Only what people read or write is in the course's own zone.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from nbgrader.api import Gradebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Dict, Enum, Int, TraitError, Unicode
from traitlets.config import Config, Configurable

from ..authoring.nbgrader_course import load_config
from ..errors import CourseError
from ..judging.card import number
from ..paths import CONFIG_NAME, Course
from .database import as_course_error, connect, due_dates

BEST, LAST = "best", "last"
COUNTED, EXPLAINED = "counted", "explained"
SHOWN = "%a %-d %b %Y, %H:%M %Z"
SECTION = "HandIn"
# of what times can be: whatever is added to one, nothing overflows
EARLIEST, LATEST = datetime.datetime(1970, 1, 1), datetime.datetime(9000, 1, 1)
FREE = 20  # attempts; after them, the pause doubles each time, so that nobody asks about hidden checks for ever
GRACE = datetime.timedelta(minutes=1)  # after the due date: what arrived in time is copied by then
END_OF_DAY = "23:59"  # when it is due where only a date is named
UNITS = (("day", 86400), ("hour", 3600), ("minute", 60))


class HandIn(Configurable):  # type: ignore[misc]
    """The settings, as `c.HandIn.…`; `lessons` holds those that a lesson has for itself."""

    time_zone = Unicode("UTC", help="Of all times here and on pages, such as Europe/Berlin.").tag(config=True)
    due = Unicode("", help="When work is due: 2026-11-30 23:59; '' for what the gradebook says.").tag(config=True)
    extensions = Dict(help="When it is due for single students, by their id.").tag(config=True)
    counts = Enum((BEST, LAST), BEST, help="Which attempt counts where several are graded at hand-in.").tag(config=True)
    attempts = Int(0, min=0, help="How many attempts are graded at hand-in; 0 for any number.").tag(config=True)
    pause = Int(60, min=0, help="Seconds between two attempts of one student that are graded.").tag(config=True)
    hidden_checks = Enum(
        (COUNTED, EXPLAINED), COUNTED, help="What feedback says of hidden checks while a lesson can be handed in."
    ).tag(config=True)
    lessons = Dict(help="By lesson: a dictionary of any of the settings above.").tag(config=True)


@dataclass(frozen=True)
class Rules:
    """One lesson's rules."""

    zone: datetime.tzinfo  # the course's time zone
    due: datetime.datetime | None = None  # when it is due, UTC; None where it never is
    extensions: Mapping[str, datetime.datetime] = field(default_factory=dict)  # when it is due for single students, UTC
    counts: str = BEST  # which attempt counts, `best` or `last`
    attempts: int = 0  # how many are graded at hand-in; 0 for any number
    pause: int = 60  # seconds between two of them
    # what feedback says of them while the lesson can be handed in, `counted` or `explained`
    hidden_checks: str = COUNTED
    config: Config = field(default_factory=Config, repr=False, compare=False)  # it says what being late costs

    def due_for(self, student: str) -> datetime.datetime | None:
        """Return when it is due for a student, UTC; None where it never is."""
        return self.extensions.get(student, self.due)

    def penalty(self, student: str, points: float, handed_in: datetime.datetime | None, late: bool = False) -> float:
        """Return what is taken off a student's points for being late.

        Args:
            student: the student's id.
            points: how many there are.
            handed_in: when, UTC; None where nobody knows.
            late: it was handed in late, as whoever took it says.
        """
        due = self.due and self.due_for(student)
        seconds = (handed_in - due).total_seconds() if due and handed_in else 0.0
        return late_penalty(self.config, student, points, max(seconds, float(late and due is not None))) or 0.0

    def due_in_words(self) -> str:
        """Return when it is due, and for how many it is due at another time; '' where it never is."""
        other = f", for {number(len(self.extensions), 'student')} at another time" if self.extensions else ""
        return f"due {self.shown(self.due)}{other}" if self.due else ""

    def pause_after(self, attempts: int) -> datetime.timedelta:
        """Return how long a student waits after so many attempts until the next one is graded."""
        more = min(max(attempts - FREE, 0), FREE)
        return datetime.timedelta(seconds=max(self.pause, min(more, 1)) * 2**more)

    @property
    def over(self) -> datetime.datetime:
        """When it has been due for everybody, extensions included, and all that was in time is copied."""
        return max([self.due, *self.extensions.values()]) + GRACE if self.due else LATEST

    def pause_ends(self, began: datetime.datetime, attempts: int) -> datetime.datetime:
        """Return when a pause ends that began after so many attempts; once all is over, it has not doubled."""
        usual = began + datetime.timedelta(seconds=self.pause)
        return min(began + self.pause_after(attempts), max(usual, self.over))

    def explains_hidden(self, now: datetime.datetime) -> bool:
        """Say whether feedback names hidden checks: nobody may be able to use what it says any more."""
        return self.over < now or self.hidden_checks == EXPLAINED

    def shown(self, moment: datetime.datetime) -> str:
        """Return a time, given in UTC, as people read it."""
        return moment.replace(tzinfo=datetime.UTC).astimezone(self.zone).strftime(SHOWN)


def rules_of(config: Config, lesson: str, entered: Mapping[str, datetime.datetime | None] | None = None) -> Rules:
    """Return a lesson's rules.

    Args:
        config: the course's configuration.
        lesson: the lesson's name.
        entered: when lessons are due according to the gradebook, for where the configuration names no date.

    Raises:
        CourseError: the configuration says what cannot be.
    """
    settings = hand_in_settings(config, lesson)
    zone = zone_named(settings.time_zone)
    due = utc(settings.due, zone, lesson) if settings.due else (entered or {}).get(lesson)
    due = due and min(max(due, EARLIEST), LATEST)
    extensions = {str(student): utc(str(time), zone, lesson) for student, time in settings.extensions.items()}
    rest = (settings.counts, settings.attempts, settings.pause, settings.hidden_checks, config)
    return Rules(zone, due, extensions, *rest)


def rules_now(course: Course, lesson: str) -> Rules:
    """Return a lesson's rules as configuration and gradebook have them now. Raises CourseError as `rules_of` does."""
    return rules_by_lesson(course, [lesson])[lesson]


def rules_by_lesson(course: Course, lessons: Collection[str] | None = None) -> dict[str, Rules]:
    """Return some lessons' rules, by default all lessons', as `rules_now` does, after one look into the gradebook."""
    if lessons is not None and not lessons:
        return {}
    config = load_config(course.root)
    named, known = config.get(SECTION, {}).get("lessons", {}), {lesson.name for lesson in course.lessons()}
    if unknown := [str(name) for name in named if name not in known]:
        raise CourseError(f"{CONFIG_NAME}: c.{SECTION}.lessons has {', '.join(unknown)}, and no lesson has that name.")
    with as_course_error(), connect(config.CourseDirectory.db_url).connect() as connection:
        entered = due_dates(connection)
    return {name: rules_of(config, name, entered) for name in (known if lessons is None else lessons)}


def hand_in_settings(config: Config, lesson: str) -> HandIn:
    """Return the settings that hold for a lesson. Raises CourseError where one is unknown or has no such value."""
    everywhere = dict(config.get(SECTION, {}))
    own: Any = everywhere.pop("lessons", {})
    try:
        chosen = {**everywhere, **dict(own).get(lesson, {})}
        if unknown := sorted(set(chosen) - set(HandIn.class_trait_names(config=True))):
            raise CourseError(f"{CONFIG_NAME}: c.{SECTION} has no {unknown[0]!r} (lesson {lesson}).")
        return HandIn(**chosen)
    except (TraitError, TypeError, ValueError) as error:
        raise CourseError(f"{CONFIG_NAME}: c.{SECTION} for lesson {lesson}: {error}") from error


@lru_cache(maxsize=8)
def zone_named(name: str) -> ZoneInfo:
    """Return a time zone. Raises CourseError where there is none of that name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise CourseError(f"{CONFIG_NAME}: {name!r} is not a time zone, such as Europe/Berlin.") from error


def utc(text: str, zone: datetime.tzinfo, lesson: str) -> datetime.datetime:
    """Return a time that the configuration names. Raises CourseError where it names none."""
    try:
        local = datetime.datetime.fromisoformat(f"{text} {END_OF_DAY}" if is_date(text) else text)
        aware = local if local.tzinfo else local.replace(tzinfo=zone)
        moment = aware.astimezone(datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        raise CourseError(f"{CONFIG_NAME}: {text!r} is not a time for {lesson}, such as 2026-11-30 23:59.") from None
    return min(max(moment, EARLIEST), LATEST)


def is_date(text: str) -> bool:
    """Say whether a text is a date without a time of day."""
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def enter_due_date(gradebook: Gradebook, config: Config, lesson: str) -> None:
    """Tell the gradebook when a lesson is due, where the configuration says so."""
    due = rules_of(config, lesson).due
    assignment = gradebook.find_assignment(lesson)
    if due is not None and assignment.duedate != due:
        assignment.duedate = due
        gradebook.db.commit()


def late_penalty(config: Config, student: str, score: float, seconds_late: float) -> float | None:
    """Return what the course's nbgrader plugin takes off, at most the score; None for nothing."""
    if seconds_late <= 0:
        return None
    step = AssignLatePenalties(config=config)
    step.init_plugin()
    penalty = step.plugin_inst.late_submission_penalty(student, score, seconds_late)
    return None if penalty is None else min(max(penalty, 0), score)


def duration(seconds: float) -> str:
    """Return a time span in its largest two units: `2 days 3 hours`."""
    words, left = [], int(seconds)
    for unit, size in UNITS:
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {unit}{'s' * (count > 1)}")
    return " ".join(words[:2]) or "less than a minute"


def now_utc() -> datetime.datetime:
    """Return the time, UTC, as nbgrader writes it down."""
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
