"""Everything that the instructor's side knows about one lesson: its checks, its reference, its mistakes."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from .checks import HOME_SEED, Check, Mistake, checks_in, load_module, mistakes_in, without_mistakes
from .errors import LessonError
from .fingerprint import Fingerprint, fingerprint
from .judge import Target
from .lesson_text import LessonCell, exercises_in, minutes_of, read_lesson, reference_source, title_of
from .lessons import Lesson
from .shortcuts import Shortcut, shortcuts_in
from .values import Raised, Returned

ROUNDING = 3
MOST_TARGETS = 100
ONE_AT_A_TIME = threading.RLock()  # the reference draws from torch's one stream of random numbers


@dataclass(frozen=True)
class Kit:
    """One lesson with all that is needed to judge it. Never leaves the grading process."""

    lesson: Lesson
    cells: list[LessonCell]
    visible: list[Check]
    hidden: list[Check]
    mistakes: list[Mistake]
    shortcuts: list[Shortcut]
    _targets: dict[tuple[str, int], list[Target]] = field(default_factory=dict)

    @property
    def exercises(self) -> list[str]:
        """The exercises' names in the lesson's order."""
        return exercises_in(self.cells)

    @cached_property
    def reference(self) -> dict[str, Any]:
        """The names that the lesson's own solution cells define."""
        names: dict[str, Any] = {"__name__": "reference"}
        source = reference_source(self.cells)
        with undisturbed():
            exec(compile(source, str(self.lesson.text), "exec"), names)
        return names

    def checks_of(self, exercise: str) -> list[Check]:
        """Return an exercise's checks, visible ones first."""
        return [c for c in (*self.visible, *self.hidden) if c.exercise == exercise]

    def mistakes_of(self, exercise: str) -> list[Mistake]:
        """Return an exercise's known mistakes."""
        return [m for m in self.mistakes if m.exercise == exercise]

    def points(self) -> dict[str, int]:
        """Return each exercise's points: the sum of its checks'."""
        return {name: sum(c.points for c in self.checks_of(name)) for name in self.exercises}

    def messages(self, exercise: str) -> dict[str, str]:
        """Return what each mistake's author should read."""
        return {m.name: m.message for m in self.mistakes_of(exercise)}

    def targets(self, exercise: str, seed: int) -> list[Target]:
        """Return what the right answer and each mistake give on inputs drawn from `seed`; computed once."""
        key = (exercise, seed)
        with ONE_AT_A_TIME:
            if len(self._targets) > MOST_TARGETS:
                self._targets.clear()
            if key not in self._targets:
                self._targets[key] = [self._target(check, seed) for check in self.checks_of(exercise)]
            return self._targets[key]

    def _target(self, check: Check, seed: int) -> Target:
        right = check.summarise(check.values(self.reference[check.exercise], seed))
        if not isinstance(right, Returned):
            place = self.lesson.shown(self.lesson.text)
            why = right.text if isinstance(right, Raised) else right.reason
            raise LessonError(place, f"the solution of {check.exercise} gives nothing in check {check.name}:", why)
        known = {m.name: self._print(check, m.work, seed) for m in self.mistakes_of(check.exercise)}
        expected = expected_of(right) if check.show else None
        return Target(
            check.name,
            check.title,
            check.points,
            fingerprint(right),
            known,
            expected,
            right,
            check in self.hidden,
            check.tolerance,
        )

    @staticmethod
    def _print(check: Check, work: Any, seed: int) -> Fingerprint:
        return fingerprint(check.summarise(check.values(work, seed)))

    @cached_property
    def sandbox_sources(self) -> tuple[str, str]:
        """What the sandbox may see: checks.py, and hidden.py without its mistakes."""
        checks, hidden = (path.read_text(encoding="utf-8") for path in (self.lesson.checks, self.lesson.hidden))
        return checks, without_mistakes(hidden)

    def sandbox_source(self, check: Check) -> tuple[str, str]:
        """Return the visible checks, and the hidden ones only where the check is one of them."""
        checks, hidden = self.sandbox_sources
        return checks, hidden if check in self.hidden else ""

    def fingerprints(self) -> dict[str, Any]:
        """Return what students are given: numbers and messages for the visible checks."""
        return {
            "lesson": self.lesson.name,
            "title": title_of(self.cells, self.lesson),
            "minutes": minutes_of(self.cells, self.lesson),
            "seed": HOME_SEED,
            "exercises": {name: self._home(name) for name in self.exercises},
        }

    def _home(self, exercise: str) -> dict[str, Any]:
        targets = [t for t in self.targets(exercise, HOME_SEED) if not t.hidden]
        telling = {n for t in targets for n, p in t.mistakes.items() if p != t.right}
        return {
            "points": self.points()[exercise],
            "checks": {t.name: home_data(t, telling) for t in targets},
            "hidden": sum(c.exercise == exercise for c in self.hidden),
            "messages": {n: text for n, text in self.messages(exercise).items() if n in telling},
        }


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Run a lesson's code here without keeping its set-up: output, random state, threads, denormals, print options."""
    threads = torch.get_num_threads()
    try:
        with contextlib.redirect_stdout(io.StringIO()), torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)
        torch.set_flush_denormal(False)
        torch.set_printoptions(profile="default")  # type: ignore[no-untyped-call]


def home_data(target: Target, telling: set[str]) -> dict[str, Any]:
    """Return one check's part of fingerprints.json."""
    data: dict[str, Any] = {"right": target.right}
    data["mistakes"] = {name: known for name, known in target.mistakes.items() if name in telling}
    if target.expected is not None:
        data["expected"] = {path: rounded(value) for path, value in target.expected.items()}
    return data


def expected_of(right: Returned) -> dict[str, Tensor]:
    """Return the tensors of a right answer by path."""
    return {leaf.path: leaf.value for leaf in right.leaves() if isinstance(leaf.value, Tensor)}


def rounded(tensor: Tensor) -> Any:
    """Return a tensor as nested lists with three decimals."""
    return (tensor.double() * 10**ROUNDING).round().div(10**ROUNDING).tolist()


def load_kit(lesson: Lesson) -> Kit:
    """Load a lesson. Raises LessonError where checks and exercises do not belong together."""
    cells = read_lesson(lesson)
    checks = load_module(lesson.checks.read_text(encoding="utf-8"), str(lesson.checks))
    hidden = load_module(lesson.hidden.read_text(encoding="utf-8"), str(lesson.hidden), checks)
    kit = Kit(lesson, cells, checks_in(checks), checks_in(hidden), mistakes_in(hidden), shortcuts_in(checks))
    declared: list[Any] = [*kit.visible, *kit.hidden, *kit.mistakes, *kit.shortcuts]
    for item in declared:
        if item.exercise not in kit.exercises:
            file = lesson.checks if item in (*kit.visible, *kit.shortcuts) else lesson.hidden
            remedy = f"Exercises of {lesson.name}: {', '.join(kit.exercises)}."
            raise LessonError(
                lesson.shown(file),
                f"{getattr(item, 'name', 'a shortcut')} belongs to {item.exercise!r}, no exercise.",
                remedy,
            )
    return kit
