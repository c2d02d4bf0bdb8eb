"""Checks, and how a lesson's files of them are loaded.

A check is a function from the student's work to values. The same function is run on the student's object,
on the reference solution and on each known mistake, so what should come out is written down nowhere.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor

from .black_box import is_box, name_sent, rename, without_body
from .inputs import Inputs
from .modules import LESSON_CODE
from .operators import AND_MORE, attributes_of, note, note_all, note_later_code, noticing, recording
from .parsing import parse
from .sentences import ANSWERS
from .settings import changed_settings, settings_now
from .syntax import bound_by, wanted_by
from .values import Lost, Outcome, Raised, Returned, capture_outcome

PLAIN = FunctionType | BuiltinFunctionType | MethodType
WIDEST = 2048  # entries along an axis of what a summary is made from: it runs where the judge runs
OTHER_SEED = 2**32  # numbers are drawn from the lower 32 bits of a seed
META = '"meta"'  # a device that some checks use
CHECKS = ("check", "battery")  # what declares one in checks.py and hidden.py
NO_RETURN = ANSWERS["no return"]

CheckFunction = Callable[[Any, Inputs], Any]


@dataclass(frozen=True)
class Check:
    """One check of one exercise.

    Args:
        exercise: the name that the student defines.
        name: the check's own name, unique in a lesson.
        points: whole points, all or nothing.
        title: one sentence that says what is checked; what a student reads when it passed.
        run: the function itself.
        show: a student may see the expected values at home (grading draws new inputs, so knowing them earns nothing).
        summary: turns the values into what is compared, where more than one answer is right.
            It runs where the judge runs, never beside the student's code.
        tolerance: how far apart values may be, where that is more than what follows from the dtype.
        may_change: settings of the whole program, from `settings`, that an answer may leave changed.
    """

    exercise: str
    name: str
    points: int
    title: str
    run: CheckFunction
    show: bool = False
    summary: Callable[[Any], Any] | None = None
    tolerance: float | None = None
    may_change: tuple[str, ...] = ()

    def values(self, work: Any, seed: int, *, record: bool = False) -> Outcome:
        """Run the check on a piece of work, a student's, the reference or a mistake, and return what came out.

        Args:
            work: what the exercise asks for.
            seed: what the inputs are drawn from.
            record: note which of PyTorch's functions ran, too.
        """
        ran: set[str] | None = set() if record else None
        draw, watched = Inputs(seed, self.name), recording_returns(work, ran)
        with (
            LESSON_CODE,
            noticing(ran),
            torch.random.fork_rng(devices=[]),
            torch.enable_grad(),  # whatever a cell has set
        ):  # what work draws, as dropout does, is repeatable too
            # not torch.manual_seed, which prepares every kind of device; and no number that work may seed with itself
            torch.default_generator.manual_seed(seed + OTHER_SEED)
            with recording(None if isinstance(watched, ReturnRecorder) else ran):
                before = settings_now()
                outcome = capture_outcome(lambda: self.run(watched, draw), self.exercise)
                settings = tuple(name for name in changed_settings(before) if name not in self.may_change)
        if isinstance(outcome, Returned):
            if ran is not None:
                note_later_code(ran, outcome.tree)
                note_all(ran, attributes_of(draw.tensors))
            outcome = replace(outcome, changed=draw.changed, settings=settings, ran=tuple(sorted(ran or ())))
        elif isinstance(outcome, Raised) and isinstance(watched, ReturnRecorder):
            outcome = watched.explain(outcome)
        return outcome

    def summarize(self, outcome: Outcome) -> Outcome:
        """Return what is compared. A summary's ValueError is a sentence for the student."""
        if self.summary is None or not isinstance(outcome, Returned):
            return outcome
        leaves = outcome.leaves()
        if any(max(leaf.value.shape, default=0) > WIDEST for leaf in leaves if isinstance(leaf.value, Tensor)):
            return Lost(f"A tensor came back with more than {WIDEST} entries along one axis.")
        if leaves and all(leaf.value is None for leaf in leaves):
            return Lost(NO_RETURN)
        try:
            return replace(outcome, tree=self.summary(outcome.tree))
        except ValueError as reason:
            return Lost(str(reason))
        except Exception as error:
            return Lost(f"What it returned is not what was asked for ({type(error).__name__}).")


@dataclass(frozen=True)
class Law(Check):
    """What holds of every right answer, in a sentence: it is asked only of a wrong one that nothing else explains."""


class ReturnRecorder:
    """A student's function, which remembers what it returned last, so that a check that stops can say why.

    Args:
        work: the function, or whatever else is called like one.
        ran: where to note which of PyTorch's functions it runs; None where nobody asks.
    """

    def __init__(self, work: Callable[..., Any], ran: set[str] | None = None) -> None:
        self.__name__, self.__wrapped__ = type(work).__name__, work
        if isinstance(work, PLAIN):  # what another object says of itself may be code, which would run unseen
            # none of its fields, which may be called as this one's are
            functools.update_wrapper(self, work, updated=())
        self._work, self._ran = work, ran
        self._returned: Any = self
        self._inside = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        self._inside, self._returned = True, self
        try:
            with recording(self._ran):
                self._returned = self._work(*args, **options)
        finally:
            if self._ran is not None:
                note_all(self._ran, attributes_of((args, options)))
        self._inside = False
        if self._ran is not None:
            note_later_code(self._ran, self._returned)
            if isinstance(self._work, type) and isinstance(self._returned, self._work):
                note(self._ran, AND_MORE)  # its methods run unseen
        return self._returned

    def __getattr__(self, name: str) -> Any:
        """Return what a callable object has beside its call."""
        return getattr(self.__dict__["_work"], name)

    def explain(self, outcome: Raised) -> Outcome:
        """Say what came back, where that is what the check could not go on with."""
        if self._inside or self._returned is self or isinstance(self._returned, Tensor | AbstractContextManager):
            return outcome  # its own error; one from inside a `with` block that it returned is its own too
        return Lost(
            NO_RETURN
            if self._returned is None
            else f"It returned {in_words(self._returned)}, and a check "
            "that goes on calculating with the result had to stop. Compare with the docstring's `Returns`."
        )


def recording_returns(work: Any, ran: set[str] | None = None) -> Any:
    """Return whatever is called like a function, watched; a class or a module, which checks look into, as it is."""
    if isinstance(work, torch.nn.Module) or not callable(work):
        return work
    as_function = not isinstance(work, type) or "__new__" in vars(work)  # such a class may return anything
    return ReturnRecorder(work, ran) if as_function else work


def in_words(value: Any) -> str:
    """Describe a returned value."""
    if isinstance(value, list | tuple):
        return f"{len(value)} things in a {'list' if isinstance(value, list) else 'tuple'}"
    if isinstance(value, bool | str):
        return f"the value {str(value)[:40]!r}" if isinstance(value, str) else f"the value {value}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return f"an object of type {type(value).__name__}"


def docstring_text(documented: Any, what: str) -> str:
    """Return a docstring as running text. Raises ValueError where it is missing."""
    text = " ".join((documented.__doc__ or "").split())
    if not text:
        raise ValueError(f"{what} {documented.__name__} needs a docstring: students read it.")
    return text


def check(
    exercise: str,
    *,
    points: int,
    show: bool = False,
    summary: Callable[[Any], Any] | None = None,
    tolerance: float | None = None,
    may_change: tuple[str, ...] = (),
) -> Callable[[CheckFunction], Check]:
    """Declare a check. The function's docstring is its title; the rest is described at `Check`."""

    def declare(run: CheckFunction) -> Check:
        title = docstring_text(run, "check")
        return Check(exercise, run.__name__, points, title, run, show, summary, tolerance, may_change)

    return declare


def law(exercise: str) -> Callable[[CheckFunction], Law]:
    """Declare a law in checks.py. The function returns whether it holds; its docstring is the law."""

    def declare(run: CheckFunction) -> Law:
        return Law(exercise, run.__name__, 0, docstring_text(run, "law"), run)

    return declare


@dataclass(frozen=True)
class Invariance:
    """A change that leaves an exercise's right results right, such as transposing a symmetric table."""

    exercise: str
    change: str
    because: str


def invariant(exercise: str, change: str, *, because: str) -> Invariance:
    """Declare, in hidden.py, a change that no check can notice; `proofs.DERIVED` has the names of the changes."""
    return Invariance(exercise, change, because)


def invariances_in(module: ModuleType) -> list[Invariance]:
    """Return what a module declares to make no difference."""
    return [item for item in vars(module).values() if isinstance(item, Invariance)]


def load_for_meta(checks: str) -> None:
    """Have PyTorch import what operators on the "meta" device need, where checks use it.

    It takes a second, and five while what runs is recorded.
    """
    if META in checks:
        torch.ones(2, 2, device="meta").tril()


def load_module(source: str, filename: str, checks: ModuleType | None = None) -> ModuleType:
    """Execute a checks file without leaving it among the imported modules.

    Args:
        source: the file's text.
        filename: its name, for tracebacks.
        checks: what `import checks` finds meanwhile, so that hidden checks can use what the visible ones define.
    """
    module = ModuleType(Path(filename).stem)
    module.__file__ = filename
    before = sys.modules.get("checks")
    try:
        if checks is not None:
            sys.modules["checks"] = checks
        exec(compile(source, filename, "exec"), module.__dict__)
    finally:
        sys.modules.pop("checks", None)
        if before is not None:
            sys.modules["checks"] = before
    return module


def checks_in(module: ModuleType) -> list[Check]:
    """Return a module's checks in the order in which they are written."""
    return [item for item in vars(module).values() if isinstance(item, Check) and not isinstance(item, Law)]


def laws_in(module: ModuleType) -> list[Law]:
    """Return a module's laws in the order in which they are written."""
    return [item for item in vars(module).values() if isinstance(item, Law)]


@lru_cache(maxsize=256)
def checks_alone(source: str, exercise: str) -> str:
    """Return what an exercise's checks need of a hidden.py to run beside a submission.

    Other checks and summaries stay here, and so does all of a black box but a name that says nothing.
    """
    tree = parse(source)
    boxes = [node.name for node in tree.body if is_box(node)]
    kept = [node for node in tree.body if is_for(node, exercise)]
    roots = [node for node in kept if not is_helper(node)]
    for call in filter(None, (declared(node, *CHECKS) for node in kept)):
        call.keywords = [keyword for keyword in call.keywords if keyword.arg not in ("summary", "off")]
    tree.body = needed([without_body(node) for node in kept], roots)
    rename(tree, {name: name_sent(name, source) for name in boxes})
    return ast.unparse(tree)


@lru_cache(maxsize=256)
def boxes_alone(source: str) -> str:
    """Return what the black boxes of a hidden.py need to be computed: no checks."""
    tree = parse(source)
    kept = [node for node in tree.body if declared(node, *CHECKS) is None]
    tree.body = needed(kept, [node for node in kept if is_box(node) or not is_helper(node)])
    return ast.unparse(tree)


def needed(nodes: list[ast.stmt], roots: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements without the functions, classes and values that none of the roots leads to."""
    helpers: dict[str, list[ast.stmt]] = {}
    for node in (node for node in nodes if node not in roots):
        for name in bound_by(node):
            helpers.setdefault(name, []).append(node)
    found = list(roots)
    for node in found:  # grows while it is read
        for name in wanted_by(node):
            found += helpers.pop(name, [])
    return [node for node in nodes if node in found]


def is_helper(node: ast.stmt) -> bool:
    """Say whether a statement does nothing but define names, and is no check."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return declared(node, *CHECKS) is None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    parts = [part for target in targets for part in ast.walk(target)]
    return bool(parts) and not any(isinstance(part, ast.Attribute | ast.Subscript) for part in parts)


@lru_cache(maxsize=256)
def names_used(source: str) -> frozenset[str]:
    """Return all names and attributes that a text mentions."""
    nodes = list(ast.walk(parse(source)))
    return frozenset(getattr(node, field, "") for node in nodes for field in ("id", "attr"))


def is_for(node: ast.stmt, exercise: str) -> bool:
    """Say whether a top-level definition belongs to an exercise: it is its check, or no check at all."""
    call = declared(node, *CHECKS)
    return call is None or (isinstance(call.args[0], ast.Constant) and call.args[0].value == exercise)


def declared(node: ast.stmt, *decorators: str) -> ast.Call | None:
    """Return the call in `@decorator(...)` above a top-level definition, for one of some decorators, or None."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return None
    calls = (d for d in node.decorator_list if isinstance(d, ast.Call))
    return next((c for c in calls if isinstance(c.func, ast.Name) and c.func.id in decorators), None)
