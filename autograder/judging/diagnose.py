"""Why an answer is wrong: how it ended, a known mistake, a slip, a relation, or where it differs first."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from .case import Case, Explainer, Explanation, Failure
from .compare import Picture, capital, contract, differing, first_difference, label_in
from .exceptions import meaning, what_happened
from .fingerprint import Fingerprint, fingerprint, leaf_fingerprint, same, same_leaf, size_of
from .mutants import one_slip
from .relations import VAGUE, Known, Relation, relation_of
from .sizes import form_of, is_far_too_large
from .structure import structural
from .target import Target, shows_numbers
from .values import Leaf, Lost, Outcome, Raised, Returned

HOME_ROUNDING = 2e-3
EXACT_PICTURE = 1e-4
MOST_NAMES = 4
UNSEEN = "on inputs that you have not seen"
DIFFERS = f"It differs {UNSEEN}."
ONLY_NUMBERS = "The shape is right, the numbers are not."
TOO_LARGE = Lost("Far more came back than was asked for.")  # what another check gave, where it explains nothing

CHANGED = (
    "One of the inputs was changed in place, by +=, *= or an assignment to its entries, so what was computed from it "
    "afterward is wrong. Its owner still needs it: make a new tensor."
)
UNPACKED = (
    "unpacked",
    "`a, b = ...` took one tensor apart along its first axis: the function on the right returns one thing.",
)

# how many is the student's own choice, and could carry what a hidden check has shown
A_NUMBER_OF = re.compile(r"\b\d+( of \d+)? (things|tensors|results) came back")


def recognise(targets: Sequence[Target], outcomes: Sequence[Outcome], first: int) -> str | None:
    """Name the known mistake that gives these values.

    It has to differ from the right answer on the first failed check, and agree with what came out there. One that
    agrees on every check that tells it from the right answer comes first, then one that does so on the visible ones.
    Otherwise equal numbers in the first failed check are enough, so that a student with two mistakes is told of one,
    unless the student passed a check that the mistake fails.
    """
    prints, target = [fingerprint(outcome) for outcome in outcomes], targets[first]
    here = [n for n in target.mistakes if target.tells_apart(n) and target.matches(prints[first], n)]
    rest = list(zip(targets, prints, strict=True))
    for pairs in (rest, [(t, p) for t, p in rest if not t.hidden]):
        for name in here:
            if all(t.matches(p, name) for t, p in pairs if t.tells_apart(name)):
                return name
    here = [n for n in here if shows_numbers(target.mistakes[n], target.right, target.tolerance)]
    passed = [t for t, outcome in zip(targets, outcomes, strict=True) if t.accepts(outcome)]
    return next((name for name in here if not any(t.tells_apart(name) for t in passed)), None)


def recognise_a_part(targets: Sequence[Target], outcomes: Sequence[Outcome], first: int) -> str | None:
    """Name the known mistake that gives some of the wrong tensors in a result of several, where others differ.

    They are the first of them, or more than half: what two mistakes have left behind can coincide later on, and tables
    of True and False coincide anyway. It fails no check that the student passed.
    """
    target, found = targets[first], fingerprint(outcomes[first])
    passed = [t for t, outcome in zip(targets, outcomes, strict=True) if t.accepts(outcome)]
    if found.get("changed"):
        return None  # what was computed from a changed input tells nothing
    right, wrong = target.right.get("leaves", {}), {}
    for path, leaf in found.get("leaves", {}).items():
        if path in right and "dtype" in leaf and not same_leaf(leaf, right[path], target.tolerance):
            wrong[path] = leaf
    best, most = None, 0
    for name, known in target.mistakes.items() if wrong and len(right) > 1 else ():
        theirs = known.get("leaves", {})
        same_here = [
            path in theirs
            and leaf["norm"] > 0
            and leaf["dtype"] != "bool"
            and same_leaf(leaf, theirs[path], target.tolerance)
            for path, leaf in wrong.items()
        ]
        alike = sum(same_here)
        if alike > most and (same_here[0] or 2 * alike > len(wrong)) and not any(t.tells_apart(name) for t in passed):
            best, most = name, alike
    return best


def slips_that_fit(targets: Sequence[Target], outcomes: Sequence[Outcome], first: int) -> list[str]:
    """Name the slips that give these values: on the first failed check, and on every other where that is known.

    A slip of which the student passed a check that it fails is none of theirs. One that agrees on the first failed
    check alone is better than none: there may be a second mistake.
    """
    prints, target = [fingerprint(outcome) for outcome in outcomes], targets[first]
    here = [n for n in target.slips if target.tells_slip(n) and same(prints[first], target.slips[n], target.tolerance)]
    if not here:
        return []
    rest = [(t, p, t.accepts(o)) for t, p, o in zip(targets, prints, outcomes, strict=True)]
    here = [n for n in here if not any(right and t.is_wrong(t.slips.get(n)) for t, _, right in rest)]
    known = {n: [(t, p) for t, p, _ in rest if t.is_wrong(t.slips.get(n))] for n in here}
    return [n for n in here if all(same(p, t.slips[n], t.tolerance) for t, p in known[n])] or here


def recognise_in_another_dtype(target: Target, outcome: Outcome) -> str | None:
    """Name a known mistake whose numbers came out in another floating-point dtype than that of the inputs."""
    if not isinstance(outcome, Returned):
        return None
    right = target.right.get("leaves", {})
    leaves, other = {}, False
    for leaf in outcome.leaves():
        wanted, value = right.get(leaf.path, {}).get("dtype", ""), leaf.value
        if (
            isinstance(value, Tensor)
            and value.is_floating_point()
            and "float" in wanted
            and str(value.dtype) != f"torch.{wanted}"
        ):
            value, other = value.to(getattr(torch, wanted)), True
        leaves[leaf.path] = leaf_fingerprint(replace(leaf, value=value))
    if not other:
        return None
    found = {"leaves": leaves}
    known = target.mistakes
    return next((n for n in known if target.tells_apart(n) and target.matches(found, n)), None)


def related(target: Target, outcome: Outcome) -> Relation | None:
    """Return how a result is related to the right one: the structure first, then the first leaf that tells most."""
    if not isinstance(outcome, Returned) or "leaves" not in target.right:
        return None
    odd = structural(outcome, target.right, target.names, target.tolerance)
    if odd or taken_apart(target, outcome):
        return Relation(*(odd or UNPACKED))
    theirs, vague = target.right["leaves"], None
    for leaf in outcome.leaves():
        right = theirs.get(leaf.path, {})
        if leaf.array != right.get("array", False):
            continue  # an array is no tensor, and that is said first
        if isinstance(leaf.value, Tensor) and "dtype" in right and not is_right(leaf, right, target):
            facts = target.facts.get(leaf.path, {})
            found = relation_of(leaf.value, Known(right, facts, target.inputs, target.tolerance))
            if found:
                name = label_in(leaf.path, theirs, target.names)
                if len(theirs) > 1:
                    found = replace(found, message=f"{capital(name)}: {found.message}")
                if found.name not in VAGUE:
                    return found
                vague = vague or found
    return vague


def taken_apart(target: Target, outcome: Returned) -> bool:
    """Say whether what came back as several results is one of them, cut up along its first axis."""
    mine, theirs = {leaf.path: leaf.value for leaf in outcome.leaves()}, target.right["leaves"]
    for path, facts in target.facts.items():
        right, parent = theirs[path], path.removesuffix("[0]")
        parts = [mine.get(f"{parent}[{i}]") for i in range(sum(p.startswith(f"{parent}[") for p in theirs))]
        if not path.endswith("[0]") or len(parts) < 2 or len(parts) != right["shape"][0] or "0" not in facts["first"]:
            continue
        known = Known(right, facts, tolerance=target.tolerance)
        ends = ((parts[0], facts["first"]["0"]), (parts[-1], facts["last"]["0"]))
        if all(isinstance(t, Tensor) and list(t.shape) == right["shape"][1:] and known.is_part(t, p) for t, p in ends):
            return True
    return False


def partly_right(target: Target, outcome: Returned) -> str:
    """Say which of several results are right and which are not; '' where that tells nothing."""
    theirs = target.right.get("leaves", {})
    if len(theirs) < 2 or contract(fingerprint(outcome), target.right):
        return ""
    right: dict[bool, list[str]] = {True: [], False: []}
    for leaf in outcome.leaves():
        right[is_right(leaf, theirs[leaf.path], target)].append(label_in(leaf.path, theirs, target.names))
    if not right[True] or not right[False] or max(map(len, right.values())) > MOST_NAMES:
        return ""
    return f"Right: {', '.join(right[True])}. Not right: {', '.join(right[False])}."


def is_right(leaf: Leaf, right: Fingerprint, target: Target) -> bool:
    """Say whether one leaf is as it should be."""
    return same_leaf(leaf_fingerprint(leaf), right, target.tolerance)


def what_came_out(target: Target, outcome: Outcome) -> tuple[str, Picture | None]:
    """Describe a wrong outcome of a visible check: how it ended, else what it is, else where it differs."""
    if isinstance(outcome, Lost):
        return outcome.reason, None
    if isinstance(outcome, Raised):
        return what_happened(outcome), None
    broken = contract(fingerprint(outcome), target.right, target.names)
    if broken or target.expected is None:
        return broken, None
    found = differing(outcome, target.expected, HOME_ROUNDING if target.exact is None else EXACT_PICTURE)
    if found is None:
        return "", None
    leaf, right, differs = found
    assert isinstance(leaf.value, Tensor)
    return first_difference(label_in(leaf.path, target.right["leaves"], target.names), leaf.value, right, differs)


def kind_of_trouble(mine: Fingerprint, right: Fingerprint) -> str:
    """Name the kind of difference between two results, without a number."""
    ours, theirs = mine["leaves"], right.get("leaves", {})
    pairs = [(ours[path], theirs[path]) for path in theirs if path in ours]
    if len(pairs) != len(theirs) or len(ours) != len(theirs):
        return "The result has another structure"
    for what, words in (
        ("array", "another type, a tensor for an array or the reverse"),
        ("shape", "another shape"),
        ("dtype", "another dtype"),
        ("nan", "NaN in it"),
        ("infinite", "infinity in it"),
    ):
        if any(a.get(what) != b.get(what) for a, b in pairs):
            return f"The result has {words}"
    return "An input was changed in place" if mine.get("changed") and not right.get("changed") else "The result differs"


def unknown_key(target: Target, outcome: Outcome) -> str:
    """Return a key that equal answers share: of the first failed check, its outcome's fingerprint to three digits."""
    data: Any = copy.deepcopy(fingerprint(outcome))
    for leaf in data.get("leaves", {}).values():
        if "products" in leaf:
            size = size_of(leaf)
            leaf["products"], leaf["norm"] = [round(p / size, 3) + 0.0 for p in leaf["products"]], f"{size:.3g}"
    return key_of([target.name, data])


def key_of(data: Any) -> str:
    """Return a key that equal data share."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()[:10]


def too_large(case: Case) -> Explanation | None:
    """Far more came back than was asked for: nothing in it is looked at."""
    if not isinstance(case.outcome, Returned) or not is_far_too_large(case.outcome, case.target.right):
        return None
    form = form_of(case.outcome)
    unseen = f"{kind_of_trouble(form, case.target.right)} {UNSEEN}."
    return Explanation(contract(form, case.target.right, case.target.names), unseen, complete=True)


def known_mistake(case: Case) -> Explanation | None:
    """A known mistake, written by the lesson's author, gives the same values."""
    return named(case, recognise(case.targets, case.outcomes, case.first))


def known_mistake_in_another_dtype(case: Case) -> Explanation | None:
    """A known mistake gives the same values in the dtype of the inputs."""
    return named(case, recognise_in_another_dtype(case.target, case.outcome))


def known_mistake_in_part(case: Case) -> Explanation | None:
    """A known mistake gives some of several wrong results."""
    return named(case, recognise_a_part(case.targets, case.outcomes, case.first))


def named(case: Case, mistake: str | None) -> Explanation | None:
    """Return what the author says about a known mistake."""
    return Explanation(case.messages[mistake], mistake=mistake, hint=case.hints.get(mistake, 0)) if mistake else None


def changed_in_place(case: Case) -> Explanation | None:
    """An input was written to, and the numbers are wrong as well: later ones come from what was written."""
    outcome, right = case.outcome, case.target.right
    if not isinstance(outcome, Returned) or not outcome.changed or right.get("changed"):
        return None
    leaves = right.get("leaves", {})
    if all(leaf.path in leaves and is_right(leaf, leaves[leaf.path], case.target) for leaf in outcome.leaves()):
        return None
    return Explanation(CHANGED, f"{DIFFERS} {CHANGED}", relation="changed", complete=True)


def repair(case: Case) -> Explanation | None:
    """An edit of the student's own code passes the check: it was run."""
    sentence = case.repair()
    if not sentence:
        return None
    message = " ".join(filter(None, [cause(case), sentence]))
    return Explanation(message, f"{DIFFERS} {sentence}", relation="repair")


def cause(case: Case) -> str:
    """Return what an exception means, where it is known."""
    return meaning(case.outcome) if isinstance(case.outcome, Raised) and not case.target.hidden else ""


def slip(case: Case) -> Explanation | None:
    """A mutant of the solution, made by an operator with one edit, gives the same values."""
    names = slips_that_fit(case.targets, case.outcomes, case.first)
    clauses = case.clauses() if names else {}
    return as_relation(Relation("slip", one_slip([clauses[name] for name in names]))) if names else None


def relation(case: Case) -> Explanation | None:
    """The result is related to the right one: it is transposed, negated, one of several, and so on."""
    closest = related(case.target, case.outcome)
    return as_relation(closest) if closest else None


def as_relation(relation: Relation) -> Explanation:
    """Return what a student reads about a relation; about inputs that nobody has shown, no number."""
    words = A_NUMBER_OF.sub("Another number of results came back", relation.unseen or relation.message)
    return Explanation(relation.message, f"{DIFFERS} {words}", relation=relation.name)


def exception(case: Case) -> Explanation | None:
    """It stopped with an error, and what that means is known."""
    if not isinstance(case.outcome, Raised):
        return None
    # the student's own text could carry hidden inputs
    unseen = f"It stopped with an error {UNSEEN}. {meaning(case.outcome, hidden=True)}".strip()
    message = meaning(case.outcome)
    return Explanation(message, unseen) if message or case.target.hidden else None


def some_right(case: Case) -> Explanation | None:
    """Some of several results are right."""
    if case.target.hidden or not isinstance(case.outcome, Returned):
        return None
    message = partly_right(case.target, case.outcome)
    return Explanation(message) if message else None


def what_is_there(case: Case) -> Explanation:
    """No more than what came out, or where it differs; of a hidden check, no more than the kind of trouble."""
    message = what_came_out(case.target, case.outcome)[0] or ONLY_NUMBERS
    if isinstance(case.outcome, Lost):
        return Explanation(message, f"Nothing that could be compared came back {UNSEEN}.", complete=True)
    unseen = f"{kind_of_trouble(fingerprint(case.outcome), case.target.right)} {UNSEEN}." if case.target.hidden else ""
    return Explanation(message, unseen, complete=True)


EXPLAINERS: tuple[Explainer, ...] = (  # in order; docs/grading.md has the same list
    too_large,
    known_mistake,
    known_mistake_in_another_dtype,
    repair,
    changed_in_place,
    slip,
    known_mistake_in_part,
    relation,
    exception,
    some_right,
    what_is_there,
)


def explanations(case: Case) -> Iterator[tuple[str, Explanation]]:
    """Yield what each explainer that applies says, with its name, in order; what is too large has but one."""
    short = [TOO_LARGE if is_far_too_large(o, t.right) else o for t, o in zip(case.targets, case.outcomes, strict=True)]
    short[case.first] = case.outcome
    case = replace(case, outcomes=short)
    for explainer in EXPLAINERS:
        explanation = explainer(case)
        if explanation:
            yield explainer.__name__, explanation
        if explanation and explainer is too_large:
            return


def explain(case: Case) -> Failure:
    """Say what went wrong on the first failed check: the first explainer that applies does."""
    rule, explanation = next(explanations(case))
    return failure_of(case, rule, explanation)


def failure_of(case: Case, rule: str, explanation: Explanation) -> Failure:
    """Return an explanation as what a student reads; of a hidden check, no word about what came out."""
    target = case.target
    hidden, message = target.hidden, explanation.message
    detail, picture = ("", None) if hidden or rule == too_large.__name__ else what_came_out(target, case.outcome)
    if hidden:
        message = explanation.unseen or message
    if explanation.complete or detail == message:
        detail = ""
    unknown = ""
    if rule == too_large.__name__:
        unknown = key_of([target.name, message])
    elif not explanation.mistake:
        unknown = unknown_key(target, case.outcome)
    return Failure(
        target.title,
        message,
        detail,
        explanation.mistake,
        picture,
        hidden,
        explanation.relation,
        explanation.hint,
        unknown,
        rule,
    )
