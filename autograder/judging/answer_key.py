"""A lesson's answer key: its checks, what the reference solution gives on them, and what each known mistake gives."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from torch import Tensor

from ..errors import LessonError
from .battery import asking, choices_in
from .black_box import BlackBox, black_boxes_in, misplaced, name_sent
from .case import Seen
from .check import (
    Check,
    Invariance,
    Law,
    boxes_alone,
    checks_alone,
    checks_in,
    invariances_in,
    laws_in,
    load_for_meta,
    load_module,
    names_used,
)
from .compact import home_data
from .computed import AnswerCache, MistakeFingerprints, once
from .edits import EditError, Mutant, Solution, solutions_in, sources_of
from .fingerprint import fingerprint
from .inputs import PUBLIC_SEED
from .modules import LESSON_CODE, running_lesson
from .observations import calls_in
from .repairs import Search
from .shortcuts import Permission, Shortcut, permissions_in, record_of, shortcuts_in
from .syntax import Code
from .target import Target
from .tried import Tried
from .values import Outcome, Raised, Returned
from .verdict import Verdict, judge

RunOnCheck = Callable[[str, Check, int], Outcome]
MOST_TARGETS = 50  # exercises of a lesson, each with a seed; at hand-in, every submission has a seed of its own
TRIED: WeakKeyDictionary[RunOnCheck, Tried] = WeakKeyDictionary()


RETURNS = re.compile(r"Returns? (.*?)(?:\.\s|\.$|;|$)", re.DOTALL)
NAMED_SHAPE = re.compile(r"(\w+) \([^()]*\)")


@dataclass(frozen=True)
class LessonSource:
    """All that judging needs of a lesson, as text, so that it can travel to another machine.

    Args:
        name: the lesson's name.
        folder: the lesson's folder, as messages show it.
        title: its heading.
        minutes: how long it takes.
        exercises: the exercises' names in order.
        reference: the code that defines every exercise's solution.
        checks: the text of checks.py, which students have.
        hidden: the text of hidden.py, which they do not.
        mistakes: the text of mistakes.py, neither.
        variants: the text of variants.py, neither.
        modules: file name and text of each further module, which lies beside the notebook and which they have.
    """

    name: str
    folder: str
    title: str
    minutes: int
    exercises: tuple[str, ...]
    reference: str
    checks: str
    hidden: str
    modules: tuple[tuple[str, str], ...] = ()
    mistakes: str = ""
    variants: str = ""

    @property
    def digest(self) -> str:
        """A checksum of everything that decides points."""
        return digest_of(self)


@lru_cache(maxsize=16)
def digest_of(source: LessonSource) -> str:
    """Return a checksum of a lesson's texts."""
    return hashlib.sha256(repr(astuple(source)).encode()).hexdigest()


@dataclass(frozen=True)
class AnswerKey:
    """What is needed to judge one lesson's exercises. Never leaves the grading process, but for bodies of boxes.

    A value: what follows from it is kept in `cache`, which keys with the same reference may share.
    """

    source: LessonSource
    visible: tuple[Check, ...]
    hidden: tuple[Check, ...]
    mistakes: tuple[Mutant, ...]
    variants: tuple[Mutant, ...]
    shortcuts: tuple[Shortcut, ...]
    invariances: tuple[Invariance, ...] = ()
    permissions: tuple[Permission, ...] = ()
    public_boxes: Mapping[str, str] = field(default_factory=dict)
    boxes: Mapping[str, BlackBox] = field(default_factory=dict)
    laws: tuple[Law, ...] = ()
    cache: AnswerCache = field(default_factory=AnswerCache, compare=False, repr=False)

    @property
    def exercises(self) -> tuple[str, ...]:
        """The exercises' names in the lesson's order."""
        return self.source.exercises

    @property
    def reference(self) -> Mapping[str, Any]:
        """The names that the lesson's own solution cells define."""
        return once(self.cache.reference, self.source.reference, self._run_reference)

    def _run_reference(self) -> dict[str, Any]:
        with running_lesson(self.source.modules, self.source.folder) as names:
            exec(compile(self.source.reference, f"{self.source.folder}/lesson.py", "exec"), names)
        return names

    def checks_of(self, exercise: str) -> list[Check]:
        """Return an exercise's checks, visible ones first."""
        return [c for c in (*self.visible, *self.hidden) if c.exercise == exercise]

    def laws_of(self, exercise: str) -> list[Law]:
        """Return what holds of every right answer to an exercise."""
        return [law for law in self.laws if law.exercise == exercise]

    def mistakes_of(self, exercise: str) -> list[Mutant]:
        """Return an exercise's known mistakes."""
        return [m for m in self.mistakes if m.exercise == exercise]

    def define(self, source: str, exercise: str) -> Any:
        """Return what a source defines under an exercise's name, among the solutions' names; None where it fails."""
        names = dict(self.reference)
        with running_lesson(self.source.modules, self.source.folder):
            try:
                exec(compile(source, "mutant", "exec", dont_inherit=True), names)
            except Exception:
                return None
        return names[exercise]

    def mutants_in(self, solutions: Sequence[Solution], text: Code, file: str) -> list[Mutant]:
        """Return what a file of this text and name declares. Raises LessonError where an edit does not fit."""
        mutants = []
        for solution, wording in ((s, w) for s in solutions for w in s.declared):
            try:
                for name, source in sources_of(solution, wording, self.source.reference, text):
                    mutants.append(Mutant(solution.exercise, name, wording.says, source, self.define, wording.hint))
            except EditError as error:
                where = f"{self.source.folder}/{file}:{wording.line}"
                remedy = f"It is an edit of the solution of {solution.exercise}."
                raise LessonError(where, f"{wording.name}: {error}.", remedy) from error
        return mutants

    def points(self) -> dict[str, int]:
        """Return each exercise's points: the sum of its checks'."""
        return {name: sum(c.points for c in self.checks_of(name)) for name in self.exercises}

    def messages(self, exercise: str) -> dict[str, str]:
        """Return what each mistake's author should read."""
        return {m.name: m.message for m in self.mistakes_of(exercise)}

    def hints(self, exercise: str) -> dict[str, int]:
        """Return which hint helps against a mistake, where its author said so."""
        return {m.name: m.hint for m in self.mistakes_of(exercise) if m.hint}

    def names(self, exercise: str) -> tuple[str, ...]:
        """Return what the exercise's docstring calls the things that are returned."""
        return names_in(self.reference[exercise])

    def targets(self, exercise: str, seed: int) -> list[Target]:
        """Return what the right answer and each mistake give on inputs drawn from `seed`; computed once."""
        return once(self.cache.targets, (exercise, seed), partial(self._targets, exercise, seed), MOST_TARGETS)

    def _targets(self, exercise: str, seed: int) -> list[Target]:
        load_for_meta(self.source.checks)
        return [self._target(check, seed) for check in self.checks_of(exercise)]

    def forget(self, seed: int) -> None:
        """Drop what was computed for one submission alone, with inputs that no other one has."""
        with LESSON_CODE:
            for key in [key for key in self.cache.targets if key[1] in (seed, seed + 1)]:
                del self.cache.targets[key]

    def known(self, exercise: str, seed: int) -> set[str]:
        """Return what honest answers may run and use beyond what is usual: what the solution runs, what is allowed."""
        exact = (target.exact for target in self.targets(exercise, seed))
        return record_of(filter(None, exact)).union(self.permitted(exercise))

    def calls(self, exercise: str) -> list[str]:
        """Return which meaningful functions the solution calls."""
        return once(self.cache.calls, exercise, partial(calls_in, self.source.reference, exercise))

    def permitted(self, exercise: str) -> frozenset[str]:
        """Return what its author allows the code of an exercise's answers to run and use."""
        return frozenset(name for each in self.permissions if each.exercise == exercise for name in each.names)

    @property
    def module_names(self) -> frozenset[str]:
        """The names of the lesson's own modules."""
        return frozenset(name.removesuffix(".py") for name, _ in self.source.modules)

    def _target(self, check: Check, seed: int) -> Target:
        outcome = check.values(self.reference[check.exercise], seed, record=True)
        right = check.summarize(outcome)
        if not isinstance(right, Returned):
            why = right.text if isinstance(right, Raised) else right.reason
            problem = f"the solution of {check.exercise} gives nothing in check {check.name}:"
            raise LessonError(f"{self.source.folder}/lesson.py", problem, why)
        known = MistakeFingerprints(check, partial(self.mistakes_of, check.exercise), seed)
        return Target(
            check.name,
            check.title,
            check.points,
            fingerprint(right),
            known,
            {leaf.path: leaf.value for leaf in right.leaves() if isinstance(leaf.value, Tensor)}
            if check.show
            else None,
            right,
            check in self.hidden,
            check.tolerance,
            self.names(check.exercise) if check.summary is None else (),
        )

    def outcomes(self, mistake: Mutant, seed: int, count: int | None = None) -> list[Outcome]:
        """Return what a known mistake gives in its exercise's checks, not yet summarized. Its fingerprints are kept.

        Args:
            mistake: one of the lesson's.
            seed: what the inputs are drawn from.
            count: how many checks it runs, the visible ones first; by default all.
        """
        known = (target.mistakes for target in self.targets(mistake.exercise, seed)[:count])
        return [each.outcome(mistake.name) for each in known if isinstance(each, MistakeFingerprints)]

    def verdict(
        self, exercise: str, seed: int, outcomes: Sequence[Outcome], cell: str = "", run: RunOnCheck | None = None
    ) -> Verdict:
        """Judge what an exercise's checks gave on inputs drawn from `seed`, in their order and not yet summarized.

        Args:
            exercise: its name.
            seed: what the inputs were drawn from.
            outcomes: what came out of the checks, or of the first of them: of the visible ones, say.
            cell: the student's cell that defines it, where it is known.
            run: runs a check on an edited cell, where a repair may be looked for. What it has shown is kept with it.
        """
        found = [check.summarize(outcome) for check, outcome in zip(self.checks_of(exercise), outcomes, strict=False)]
        targets = self.targets(exercise, seed)[: len(found)]
        messages, hints = self.messages(exercise), self.hints(exercise)
        calls = self.calls(exercise)
        search = cache(partial(self._search, exercise, seed, found, cell, run, calls)) if run else Seen  # of one budget
        return judge(exercise, targets, found, messages, hints, cell, search)

    def passed(self, exercise: str, seed: int, outcomes: Mapping[str, Outcome]) -> set[str]:
        """Return the names of an exercise's checks that accept what came out of them, not yet summarized."""
        pairs = zip(self.checks_of(exercise), self.targets(exercise, seed), strict=True)
        return {check.name for check, target in pairs if target.accepts(check.summarize(outcomes[check.name]))}

    def _search(
        self, exercise: str, seed: int, outcomes: Sequence[Outcome], cell: str, run: RunOnCheck, calls: Sequence[str]
    ) -> Seen:
        """Run the student's cell edited; an edit has to pass on inputs drawn from another seed too."""
        asked = len(outcomes)
        checks = self.checks_of(exercise)[:asked]

        def summarized(source: str, i: int, seed: int = seed) -> Outcome:
            return checks[i].summarize(run(source, checks[i], seed))

        def confirm(source: str) -> bool:
            targets = self.targets(exercise, seed + 1)[:asked]
            return all(target.accepts(summarized(source, i, seed + 1)) for i, target in enumerate(targets))

        def trace(source: str, i: int) -> Outcome:
            return run(source, checks[i], seed)

        def laws(source: str) -> dict[str, Outcome]:
            return {law.title: run(source, law, seed) for law in self.laws_of(exercise)}

        targets, tried = self.targets(exercise, seed)[:asked], TRIED.setdefault(run, Tried(cell, calls))
        search = Search(cell, targets, outcomes, summarized, confirm, calls, trace, tried, laws)
        return list(search.found())[-1]

    def boxes_of(self, check: Check, seed: int) -> dict[str, tuple[str, str]]:
        """Return the black boxes that a submission may call while a check runs: under which name, and which it is.

        They are those that the exercise's own checks name: another exercise's could do this one's work. Those of
        checks.py, which students have, get other names under each seed.
        """
        used = names_used(checks_alone(self.source.checks, check.exercise))
        if check in self.hidden:
            used |= names_used(checks_alone(self.source.hidden, check.exercise))
        hidden = {n: ("hidden", b.name) for n, b in self.boxes.items() if n in used and n not in self.public_boxes}
        public = [n for n, v in self.public_boxes.items() if used & {v, name_sent(v, self.source.checks)}]
        return hidden | {name_sent(name, f"{seed} {self.source.hidden}"): ("checks", name) for name in public}

    @property
    def box_sources(self) -> tuple[str, str]:
        """What the judge's own process for black boxes needs: checks.py, and their part of hidden.py."""
        return self.source.checks, boxes_alone(self.source.hidden)

    def sandbox_source(self, exercise: str) -> tuple[str, str]:
        """Return all that the sandbox may see for an exercise: checks.py, and of hidden.py its checks."""
        choices = choices_in(check for check in self.hidden if check.exercise == exercise)
        return self.source.checks, checks_alone(self.source.hidden, exercise) + choices

    def fingerprints(self) -> dict[str, Any]:
        """Return what students are given: numbers and messages for the visible checks."""
        return {
            "lesson": self.source.name,
            "title": self.source.title,
            "minutes": self.source.minutes,
            "seed": PUBLIC_SEED,
            "exercises": {name: self._home(name) for name in self.exercises},
        }

    def _home(self, exercise: str) -> dict[str, Any]:
        targets = [t for t in self.targets(exercise, PUBLIC_SEED) if not t.hidden]
        telling = {n for t in targets for n in t.mistakes if t.tells_apart(n)}
        return {
            "points": self.points()[exercise],
            "checks": {target.name: home_data(target, telling) for target in targets},
            "hidden": sum(c.exercise == exercise for c in self.hidden),
            "messages": {n: text for n, text in self.messages(exercise).items() if n in telling},
            "hints": {n: hint for n, hint in self.hints(exercise).items() if n in telling},
            "names": list(self.names(exercise)),
            "calls": self.calls(exercise),
        }


def names_in(work: Any) -> tuple[str, ...]:
    """Return the names of several results: `Returns the output (L, D) and the weights (L, S)` has two.

    A single result needs no name. A class is asked for what its `forward` returns.
    """
    documented = getattr(work, "forward", work) if isinstance(work, type) else work
    found = RETURNS.search(" ".join((documented.__doc__ or "").split()))
    names = tuple(NAMED_SHAPE.findall(found[1])) if found else ()
    return names if len(names) > 1 else ()


def load_answer_key(source: LessonSource) -> AnswerKey:
    """Load a lesson's checks. Raises LessonError where checks and exercises do not belong together."""
    with running_lesson(source.modules, source.folder):
        checks = load_module(source.checks, f"{source.folder}/checks.py")
        hidden = load_module(source.hidden, f"{source.folder}/hidden.py", checks)
        mistakes = load_module(source.mistakes, f"{source.folder}/mistakes.py", checks)
        variants = load_module(source.variants, f"{source.folder}/variants.py", checks)
    key = AnswerKey(
        source,
        tuple(checks_in(checks)),
        tuple(checks_in(hidden)),
        (),
        (),
        tuple(shortcuts_in(checks)),
        tuple(invariances_in(hidden)),
        tuple(permissions_in(hidden)),
        {box.name: variable for variable, box in vars(checks).items() if isinstance(box, BlackBox)},
        black_boxes_in(checks) | {name_sent(name, source.hidden): box for name, box in black_boxes_in(hidden).items()},
        tuple(laws_in(checks)),
    )
    declared, others = solutions_in(mistakes), solutions_in(variants)
    spelled = [each.itself() for each in declared if each.spelled]
    wrong, right = Code(source.mistakes), Code(source.variants)
    key = replace(
        key,
        mistakes=tuple(key.mutants_in(declared, wrong, "mistakes.py")),
        variants=(*key.mutants_in(others, right, "variants.py"), *key.mutants_in(spelled, wrong, "mistakes.py")),
    )
    key = replace(key, hidden=asking(key.hidden, lambda exercise: key.reference.get(exercise)))
    refuse_misplaced(key)
    return key


def refuse_misplaced(key: AnswerKey) -> None:
    """Raise LessonError for the first thing in a lesson's files that belongs to no exercise, or to no function."""
    source = key.source
    if misplaced(source.hidden):
        problem = "black_box is not above a function."
        raise LessonError(
            f"{source.folder}/hidden.py", problem, "Write `@black_box` above a function of the file itself."
        )
    own = (
        key.visible,
        key.laws,
        key.shortcuts,
        key.hidden,
        key.mistakes,
        key.variants,
        key.invariances,
        key.permissions,
    )
    for item in (item for items in own for item in items):
        if item.exercise not in key.exercises:
            file = "checks.py" if item in (*key.visible, *key.laws, *key.shortcuts) else "hidden.py"
            what = getattr(item, "name", f"a {type(item).__name__.lower()}")
            problem = f"{what} belongs to {item.exercise!r}, which is not an exercise."
            raise LessonError(f"{source.folder}/{file}", problem, f"Exercises: {', '.join(key.exercises)}.")
