"""A repair: an edit of the student's own code with which every check passes. It was run, so it is no guess.

All one-edit neighbors of the code are tried, smallest first: the first failed check alone, then the others on what
passes it. Where none passes everything, a second edit is looked for after those that pass most.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

from .case import Seen
from .exceptions import line_of, meaning
from .fingerprint import Fingerprint, fingerprint, is_far_too_large, same_leaf
from .neighbors import Edit
from .sentences import ANSWERS, ANY_VALUE, CHANGES
from .site import Size
from .target import Target
from .trace import TRACED_DTYPES, first_special, marked
from .trial import NO_TIME_LEFT
from .tried import Tried
from .values import Lost, Outcome, Raised, Returned

RunEdited = Callable[[str, int], Outcome]
MANY_NAMES = 3
DEFINITE = tuple(CHANGES[kind] for kind in ("generator", "mode", "copy", "not in place", "none", "size"))
MOST_LINES = 4
MOST_FIRST_STEPS = 3
MOST_LAWS = 2  # told
FAR_TOO_LARGE = Lost(ANSWERS["too large"])


class Progress(NamedTuple):
    """How far an edited cell gets; of two, the larger one gets further.

    Args:
        passed: how many checks pass, 0 where the first failed one still fails.
        form: what is right there: 1 something came back, 2 in the right structure, 3 also in shape, 4 also in dtype.
        leaves: how many of its values are right.
    """

    passed: int
    form: int = 0
    leaves: int = 0


NOWHERE, STRUCTURE = Progress(0), 2


def progress_of(outcome: Outcome, target: Target) -> Progress:
    """Return how far an outcome is that is not right."""
    if not isinstance(outcome, Returned):
        return NOWHERE
    mine, theirs = fingerprint(outcome)["leaves"], target.right.get("leaves", {})
    if mine.keys() != theirs.keys():
        return Progress(0, STRUCTURE - 1)
    alike = [all(mine[p].get(what) == theirs[p].get(what) for p in mine) for what in ("shape", "dtype")]
    right = sum(same_leaf(leaf, theirs[path], target.tolerance) for path, leaf in mine.items())
    return Progress(0, STRUCTURE + alike[0] + all(alike), right)


@dataclass(frozen=True)
class Repair:
    """Edits of a student's code with which every check passes.

    Args:
        edits: one, or two that are both needed.
        others: further edits of one that do the same.
    """

    edits: tuple[Edit, ...]
    others: tuple[Edit, ...] = ()

    @property
    def sentence(self) -> str:
        """What a student reads. It states no more than what was run."""
        if len(self.edits) > 1:
            return f"{ANSWERS['two']} {ANSWERS['passes']}: {'; '.join(map(clause, self.edits))}."
        words = clause(self.edits[0])
        first = self.edits[0]
        alike = (e for e in self.others if e.change == first.change and (e.change or e.piece == first.piece))
        same = [edit for edit in alike if len(edit.lines) == 1]
        lines = sorted({edit.lines[0] for edit in same} - set(self.edits[0].lines))
        also = f" The same change in {in_lines(lines)} does it too." if 0 < len(lines) < MOST_LINES else ""
        return f"{words[0].upper()}{words[1:]}, {ANSWERS['passes']}.{also}"

    @property
    def any_value(self) -> bool:
        """Whether it is another number, of which many others would do: any mistake may end in one."""
        return any(ANY_VALUE.search(edit.change) for edit in self.edits)


def clause(edit: Edit) -> str:
    """Return an edit as the beginning of a sentence: its line, the student's code, and the kind of change."""
    if not edit.change:
        return f"without `{edit.piece}` in {in_lines(edit.lines)}"
    return f"{in_lines(edit.lines)}, `{edit.piece}`: {edit.change}"


def in_lines(lines: Sequence[int]) -> str:
    """Return `line 4`, `lines 4 and 5`, or `line 4, both times`."""
    different = sorted(set(lines))
    if len(different) == 1:
        times = {1: "", 2: ", both times"}.get(len(lines), ", each time")
        return f"line {different[0]}{times}"
    return f"lines {', '.join(map(str, different[:-1]))} and {different[-1]}"


class Search:
    """Looks for a repair.

    Args:
        cell: the student's cell.
        targets: what is known about the checks.
        outcomes: what the student's code gave.
        run: runs a check, by its number, on an edited cell; NO_TIME_LEFT ends the search.
        confirm: says whether an edited cell that passes every check does so on other inputs too.
        needed: functions that the solution calls too.
        trace: runs a check, by its number, on a cell that is looked at.
        tried: what another search of the same cell has read and run, where there was one.
        laws: gives, for each law of the exercise, what it gives on a cell.
    """

    def __init__(
        self,
        cell: str,
        targets: Sequence[Target],
        outcomes: Sequence[Outcome],
        run: RunEdited,
        confirm: Callable[[str], bool] = lambda source: True,
        needed: Collection[str] = (),
        trace: RunEdited = lambda source, i: NO_TIME_LEFT,
        tried: Tried | None = None,
        laws: Callable[[str], Mapping[str, Outcome]] = lambda source: {},
    ) -> None:
        self._laws = laws
        self._tried, self._trace = tried or Tried(cell, needed), trace
        self._targets, self._run, self._confirm = targets, run, confirm
        accepted = [target.accepts(outcome) for target, outcome in zip(targets, outcomes, strict=True)]
        failed = [i for i, passed in enumerate(accepted) if not passed]
        self._passed_before = sum(accepted)
        self._order = [*failed, *(i for i, passed in enumerate(accepted) if passed)]
        self._near = line_of(outcomes[failed[0]], cell) if failed else 0
        self._before = outcomes[failed[0]] if failed else NO_TIME_LEFT
        self._seen: set[str] = set()
        self._over = False

    def found(self) -> Iterator[Seen]:
        """Yield what was seen when the code ran, each time with a better repair."""
        if self._tried.special is None:
            self._tried.special = {"law": laws_told(self._laws(ast.unparse(self._tried.tree))), **self._special()}
        special = dict(self._tried.special)
        cut, law = special.pop("cut", ""), special.pop("law", "")
        seen = Seen(" ".join(special.values()), cut, law=law)
        yield seen
        for repair in self.repairs():
            yield (seen := replace(seen, repair=repair.sentence, any_value=repair.any_value))

    def _special(self) -> dict[str, str]:
        """Say where NaN appears first, or what autograd cannot follow: the code runs again, and is looked at."""
        right = self._targets[self._order[0]].right if self._order else {}
        if not self._tried.tree.body or isinstance(self._before, Lost):
            return {}
        mine, text = fingerprint(self._before), self._tried.cell
        kinds = ["nan"] if has_new_nan(mine, right) else []
        kinds += ["cut"] if lacks_gradient(self._before, mine, right) else []
        kinds += other_dtypes(mine, right)
        seen = self._trace(marked(text), self._order[0]) if kinds else NO_TIME_LEFT
        return first_special(seen.tree, text, kinds) if isinstance(seen, Returned) else {}

    def repairs(self) -> Iterator[Repair]:
        """Yield what is found, each better than the one before it; a name is what is changed last."""
        before = self._reach(ast.unparse(self._tried.tree))
        if before.passed:
            return  # what failed is not what the cell defines
        complete: list[Edit] = []
        partly: list[tuple[Progress, Edit]] = []
        for edit, progress in self._reaching():
            if edit.size is Size.NAME and partly and not complete:
                yield from self._in_two_steps(partly)
                partly.clear()
            if progress.passed == len(self._targets):
                complete.append(edit)
                if edit.size is not Size.NAME:  # of names, all have to be known
                    yield repair_of(complete)
            elif is_small(edit) and progress > before and progress.passed not in range(1, self._passed_before + 1):
                partly.append((progress, edit))
        if settled(complete):
            yield repair_of(complete)
        if partly and not complete:
            yield from self._in_two_steps(partly)

    def _in_two_steps(self, partly: Sequence[tuple[Progress, Edit]]) -> Iterator[Repair]:
        """Yield two edits of which the second passes everything."""
        for _, first in sorted(partly, key=lambda step: step[0], reverse=True)[:MOST_FIRST_STEPS]:
            with first.applied():
                reaching = takewhile(lambda found: found[0].size <= Size.OPERATION, self._reaching(first))
                passing = [edit for edit, now in reaching if now.passed == len(self._targets) and is_small(edit)]
            if second := settled(passing):
                yield Repair((first, second[0]))
                return

    def _reaching(self, after: Edit | None = None) -> Iterator[tuple[Edit, Progress]]:
        """Yield the edits that get further, and how far; of one size where one passes everything."""
        every, complete = len(self._targets), None
        for edit, source in self._tried.edits(self._near, after):
            if self._over or (complete is not None and edit.size > complete):
                return
            if source in self._seen:
                continue
            self._seen.add(source)
            progress = self._reach(source)
            if progress.passed == every and not (self._confirm(source) and not broken_laws(self._laws(source))):
                continue
            complete = edit.size if progress.passed == every and complete is None else complete
            yield edit, progress

    def _reach(self, source: str) -> Progress:
        """Return how far an edited cell gets; where the first failed check still fails, no further."""
        known: Progress | None = self._tried.failed.get(source)
        if known is not None:
            return known
        passed = 0
        for i in self._order:
            outcome = self._outcome(source, i)
            if outcome == NO_TIME_LEFT:
                self._over = True
                return NOWHERE
            right = self._targets[i].accepts(outcome)
            if not right and i == self._order[0]:
                self._tried.failed[source] = found = progress_of(outcome, self._targets[i])
                return found
            passed += right
        return Progress(passed)

    def _outcome(self, source: str, i: int) -> Outcome:
        """Run a check on an edited cell; of far too large an answer, nothing is looked at."""
        outcome = self._run(source, i)
        return FAR_TOO_LARGE if is_far_too_large(outcome, self._targets[i].right) else outcome


def broken_laws(laws: Mapping[str, Outcome]) -> list[str]:
    """Return the laws that do not hold, of those with what came out."""
    return [law for law, outcome in laws.items() if isinstance(outcome, Returned) and outcome.tree is False]


def laws_told(laws: Mapping[str, Outcome]) -> str:
    """Say which laws do not hold; '' for none. An answer that stops with an error where one is asked breaks none."""
    broken = broken_laws(laws)[:MOST_LAWS]
    kind = "law" if len(broken) == 1 else "laws"
    return ANSWERS[kind].format(law=" ".join(f"“{law}”" for law in broken)) if broken else ""


def has_new_nan(mine: Fingerprint, right: Fingerprint) -> bool:
    """Say whether there is NaN in a result where the right one has none."""
    theirs = right.get("leaves", {})
    return any(leaf.get("nan") and not theirs.get(p, {}).get("nan") for p, leaf in mine.get("leaves", {}).items())


def other_dtypes(mine: Fingerprint, right: Fingerprint) -> list[str]:
    """Return the floating-point dtypes of results that are asked for in another one."""
    theirs = right.get("leaves", {})
    pairs = ((leaf.get("dtype", ""), theirs.get(p, {}).get("dtype", "")) for p, leaf in mine.get("leaves", {}).items())
    return sorted({dtype for dtype, asked in pairs if dtype != asked and dtype in TRACED_DTYPES and asked})


def lacks_gradient(outcome: Outcome, mine: Fingerprint, right: Fingerprint) -> bool:
    """Say whether no gradient came back: None where a tensor was asked for, or autograd's error."""
    if isinstance(outcome, Raised):
        return meaning(outcome)[0] == "no gradient"
    theirs, leaves = right.get("leaves", {}), mine.get("leaves", {})
    return any(leaf.get("type") == "NoneType" and "dtype" in theirs.get(p, {}) for p, leaf in leaves.items())


def repair_of(edits: Sequence[Edit]) -> Repair:
    """Return the repair that edits are of which each passes everything."""
    best, *others = settled(edits)
    return Repair((best,), tuple(others))


def is_small(edit: Edit) -> bool:
    """Say whether an edit leaves so much of the code that it may be one of two steps. Any number may."""
    return edit.size <= Size.OPERATION and not ANY_VALUE.search(edit.change)


def settled(edits: Sequence[Edit]) -> list[Edit]:
    """Return edits, likeliest first, without those of a name that many others can replace: it is not what matters."""
    names = Counter(edit.site for edit in edits if edit.size is Size.NAME)
    kept = [edit for edit in edits if names[edit.site] < MANY_NAMES]
    return sorted(kept, key=lambda edit: (edit.size, edit.change not in DEFINITE, len(edit.writes), len(edit.piece)))
