"""What a class's checks say about it: who is stuck, which messages are seen, and which of them helped. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..judging.sentences import ANSWERS, CHANGES

WORKING, PASSED, STUCK = "working", "passed", "stuck"
SAME_MESSAGE = 3  # tries in a row with one message: stuck
NO_PROGRESS = 600.0  # seconds with tries, in which no exercise of the lesson was passed: stuck
PAUSE = 1800.0  # seconds without a try: what came before is another session's
TRIES_TO_HELP = 2
# what students are told where no author has written a message, by the name of the rule in judging.diagnose
RULES = {
    "repair": "One edit of their own code passes, and the message says where.",
    "exception": "It stopped with an error, and the message says what that means.",
    "what_is_there": "Nothing is known about it: the message shows what came out.",
    "too_large": "Far more came back than was asked for.",
    "unexplained": ANSWERS["unexplained"],
    "shortcut": "A ready-made function was used where writing it is the exercise.",
}
UNKNOWN = "A message that is not known here, such as one of another release."  # anybody can send any text as its id
EDIT = "One edit of their own code passes"
GAP = re.compile(r"\{\w+\}")  # in the words of an edit, for what is the student's


@dataclass(frozen=True)
class Try:
    """One run of `check` on an exercise that was started: a row of the board's table."""

    student: str
    exercise: str
    passed: bool  # every visible check
    message: str  # the id of what was shown; '' where it passed
    time: float  # in seconds since 1970
    code: str | None = None  # the student's, where they share it
    lesson: str = ""
    id: str = ""  # the sender's own, so that what is sent twice is kept once


@dataclass
class SeenMessage:
    """A message about one exercise, and who sees it."""

    message: str
    students: list[str] = field(default_factory=list)
    example: str = ""
    author: str = ""


@dataclass(frozen=True)
class Board:
    """A class at one moment."""

    states: Mapping[str, Mapping[str, str]]  # of each student, by exercise; what is missing is not started
    messages: Mapping[str, Sequence[SeenMessage]]  # per exercise, the most frequent first


def board_of(
    done: Mapping[tuple[str, str], bool], tries: Sequence[Try], now: float, since: float | None = None
) -> Board:
    """Return the class as it is at a moment.

    Args:
        done: whether each student and exercise that was ever tried has passed by then.
        tries: the latest ones of one lesson, in order: at least those of the last session.
        now: the moment, in seconds since 1970.
        since: counts every message that was seen from then on; by default only what somebody last saw and has not
            passed since.
    """
    states: dict[str, dict[str, str]] = defaultdict(dict)
    for (student, exercise), passed in done.items():
        states[student][exercise] = PASSED if passed else WORKING
    for student, own_tries in tries_by_student(tries).items():
        for exercise in stuck_on(own_tries, now):
            if states[student].get(exercise) == WORKING:
                states[student][exercise] = STUCK
    shown = last_messages(tries, now) if since is None else [t for t in tries if t.time >= since and not t.passed]
    return Board(states, most_seen(shown))


def tries_by_student(tries: Iterable[Try]) -> dict[str, list[Try]]:
    """Return each student's tries, in order."""
    by_student = defaultdict(list)
    for one in tries:
        by_student[one.student].append(one)
    return by_student


def stuck_on(tries: Sequence[Try], now: float) -> set[str]:
    """Return the exercises on which one student is stuck."""
    session = last_session(tries, now)
    passed = max((one.time for one in session if one.passed), default=0.0)
    stuck = set()
    for exercise in {one.exercise for one in session}:
        at_it = [one for one in session if one.exercise == exercise]
        if at_it[-1].passed:
            continue
        same = {(one.passed, one.message) for one in at_it[-SAME_MESSAGE:]}
        since = [one for one in at_it if one.time > passed]
        long = len(since) > 1 and now - since[0].time >= NO_PROGRESS
        if (len(at_it) >= SAME_MESSAGE and len(same) == 1) or long:
            stuck.add(exercise)
    return stuck


def last_session(tries: Sequence[Try], now: float) -> Sequence[Try]:
    """Return the tries since the last pause; none where the pause lasts."""
    if not tries or now - tries[-1].time > PAUSE:
        return []
    breaks = [index for index, (one, following) in enumerate(pairwise(tries), 1) if following.time - one.time > PAUSE]
    return tries[breaks[-1] if breaks else 0 :]


def last_messages(tries: Iterable[Try], now: float) -> list[Try]:
    """Return everybody's last try on each exercise, where it did not pass and is not long ago."""
    latest = {(one.student, one.exercise): one for one in tries}
    return [one for one in latest.values() if not one.passed and now - one.time <= PAUSE]


def most_seen(tries: Iterable[Try]) -> dict[str, list[SeenMessage]]:
    """Return the messages of tries that did not pass, with who saw them; the most frequent first."""
    messages: dict[str, dict[str, SeenMessage]] = defaultdict(dict)
    for one in tries:
        seen = messages[one.exercise].setdefault(one.message, SeenMessage(one.message))
        if one.student not in seen.students:
            seen.students.append(one.student)
        if one.code:
            seen.example, seen.author = one.code, one.student
    return {
        exercise: sorted(seen.values(), key=lambda s: (-len(s.students), s.message))
        for exercise, seen in messages.items()
    }


@dataclass(frozen=True)
class Helped:
    """What a message did."""

    exercise: str
    message: str
    saw: int  # how many students saw it
    passed: int  # how many of them passed the exercise within two tries after they first saw it


def messages_that_helped(tries: Iterable[Try]) -> list[Helped]:
    """Count for each message who saw it, and who passed within two tries of first seeing it; the most seen first."""
    attempts: dict[tuple[str, str], list[Try]] = defaultdict(list)
    for one in tries:
        attempts[one.student, one.exercise].append(one)
    counts: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for (_, exercise), own in attempts.items():
        first: dict[str, int] = {}
        for index, one in enumerate(own):
            if not one.passed:
                first.setdefault(one.message, index)
        for message, index in first.items():
            counts[exercise, message].append(any(o.passed for o in own[index + 1 : index + 1 + TRIES_TO_HELP]))
    helped = [Helped(exercise, message, len(some), sum(some)) for (exercise, message), some in counts.items()]
    return sorted(helped, key=lambda each: (each.exercise, -each.saw, each.message))


def known_name(message: str, written: Mapping[str, str]) -> str:
    """Return a message's id, or what stands for all that are not known: there are as many as somebody invents."""
    rule, _, more = message.partition(":")
    if message in written or (rule == "repair" and more.replace("_", " ") in CHANGES):
        return message
    return rule if rule in RULES else "unknown"


def message_words(message: str, written: Mapping[str, str]) -> str:
    """Return what a message's id stands for: its author's words, or what the rule says that made it.

    The id is a known mistake's name, or a rule's, with the edit's name after a colon.
    """
    if message in written:
        return written[message]
    rule, _, more = message.partition(":")
    more = more.replace("_", " ")
    if rule == "repair" and more in CHANGES:
        return f"{EDIT}: {GAP.sub('…', CHANGES[more])}."
    return RULES.get(rule, UNKNOWN)
