"""`check(attend)`: what a student runs. Compares with fingerprints; knows no solution."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from IPython.display import display

from ..errors import CheckFailed, CourseError, NotStarted
from ..judging.card import Card, message_of
from ..judging.case import Seen
from ..judging.check import Check, Law, checks_in, laws_in, load_module
from ..judging.compact import expanded
from ..judging.inputs import PUBLIC_SEED
from ..judging.shortcuts import Shortcut, bans_of, barred, barred_by, shortcuts_in, source_of
from ..judging.target import Target
from ..judging.verdict import Verdict, judge
from ..paths import student_files
from .progress import record_progress
from .repairing import defining_cell, search_in_copy
from .sharing import tell_board

HINT_COUNT = 3
SAY_ENOUGH = ("repair", "exception", "too_large")  # rules about code, where hints are about ideas
_suggested: dict[str, list[int]] = {}


def check(work: Any) -> None:
    """Check an exercise with the checks that a student has, and show a card if it was started.

    Args:
        work: what the exercise asked for, under the name that it asked for: `check(attend)`.

    Raises:
        NotStarted: the exercise still raises NotImplementedError.
        CheckFailed: a check did not pass; the message names the mistake where it is a known one.
        CourseError: `work` is not one of this lesson's exercises.
    """
    files = ReleasedChecks.beside_the_notebook()
    exercise = files.checked_exercise(work, sys._getframe(1).f_globals)
    verdict, hidden = files.judge(exercise, work, sys._getframe(1).f_globals)
    record_progress(exercise, verdict)
    if verdict.started:
        display(Card(verdict, hidden_left=hidden, hint=next_hint(exercise, verdict)))
    if note := tell_board(exercise, verdict, work):
        display(note)
    if verdict.failure is not None:
        error = CheckFailed if verdict.started else NotStarted
        raise error(message_of(verdict)) from None


def next_hint(exercise: str, verdict: Verdict) -> int:
    """Return which hint to open: the one that fits, else the first not suggested yet; 0 where none fits."""
    if verdict.passed or not verdict.started or verdict.failure is None:
        return 0
    before = _suggested.setdefault(exercise, [])
    fitting = verdict.failure.hint
    if not fitting and verdict.failure.rule in SAY_ENOUGH:
        return 0
    if not fitting or fitting in before:
        fitting = next((hint for hint in range(1, HINT_COUNT + 1) if hint not in before), 0)
    before += [fitting] if fitting else []
    return fitting


class ReleasedChecks:
    """A lesson's checks.py and fingerprints.json."""

    def __init__(
        self,
        checks: Sequence[Check],
        exercises: Mapping[str, Any],
        shortcuts: Sequence[Shortcut],
        laws: Sequence[Law] = (),
    ) -> None:
        self.checks, self.laws = checks, laws
        self.shortcuts = shortcuts
        self.exercises = exercises

    @classmethod
    def beside_the_notebook(cls, folder: Path | None = None) -> ReleasedChecks:
        """Load the files of the running notebook, or of another lesson's folder; again when they have changed."""
        checks, prints = student_files(folder)
        return load_files(checks, prints, checks.stat().st_mtime_ns, prints.stat().st_mtime_ns)

    def checked_exercise(self, work: Any, names: Mapping[str, Any]) -> str:
        """Find the exercise by identity among the notebook's names, else by the object's own name."""
        for name in self.exercises:
            if name in names and names[name] is work:
                return name
        name = getattr(work, "__name__", type(work).__name__)
        if name in self.exercises:
            return str(name)
        raise CourseError(f"{name!r} is not an exercise of this lesson. Exercises: {', '.join(self.exercises)}.")

    def judge(self, exercise: str, work: Any, names: Mapping[str, Any] | None = None) -> tuple[Verdict, int]:
        """Run the visible checks; return the verdict and how many hidden checks there are.

        With the names that the notebook has defined, a repair of the exercise's cell is looked for.
        """
        known = self.exercises[exercise]
        record = bool(bans_of(self.shortcuts, exercise))
        checks = [check for check in self.checks if check.exercise == exercise]
        targets, outcomes = [], []
        for check in checks:
            outcome = check.values(work, PUBLIC_SEED, record=record)
            targets.append(target_of(check, known["checks"][check.name], known.get("names", ())))
            outcomes.append(check.summarize(outcome))
        source, cell = source_of(work), defining_cell(work)
        messages, hints = known["messages"], known.get("hints")

        def search() -> Seen:
            if names is None:
                return Seen()
            laws = [law for law in self.laws if law.exercise == exercise]
            return search_in_copy(cell, checks, targets, outcomes, names, known.get("calls", ()), laws)

        code = cell or "".join(source)
        verdict = judge(exercise, targets, outcomes, messages, hints, code, search)
        short = barred_by(self.shortcuts, exercise, source, outcomes)
        return barred(verdict, *short) if short and verdict.started else verdict, known["hidden"]


def target_of(check: Check, data: Mapping[str, Any], names: Sequence[str]) -> Target:
    """Join a check with its fingerprints."""
    return Target(
        check.name,
        check.title,
        check.points,
        data["right"],
        MappingProxyType(expanded(data["mistakes"], data["right"])),
        data.get("expected"),
        tolerance=check.tolerance,
        names=names if check.summary is None else (),
    )


@lru_cache(maxsize=4)
def load_files(checks: Path, prints: Path, *_changed: int) -> ReleasedChecks:
    """Read the two files. The modification times are part of the cache's key."""
    module = load_module(checks.read_text(encoding="utf-8"), str(checks))
    data = json.loads(prints.read_text(encoding="utf-8"))
    return ReleasedChecks(checks_in(module), data["exercises"], shortcuts_in(module), laws_in(module))
