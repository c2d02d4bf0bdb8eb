"""Why an answer is wrong: how it ended, a known mistake, an edit, an error, or where it differs first."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from torch import Tensor

from .case import Case, Explainer, Explanation, Failure
from .check import NO_RETURN
from .compare import Picture, contract, differing, first_difference, kind_of_trouble, label_in
from .edits import family_of
from .exceptions import line_of, meaning, what_happened
from .fingerprint import Fingerprint, fingerprint, form_of, is_far_too_large, leaf_fingerprint, same_leaf, size_of
from .observations import seen_in
from .recognize import PRAISE, SENTENCES, mutants_that_fit, told
from .sentences import ANSWERS, VAGUE
from .target import Target
from .values import Leaf, Lost, Outcome, Raised, Returned

HOME_ROUNDING, EXACT_PICTURE = 2e-3, 1e-4
FAR_TOO_MUCH = Lost(ANSWERS["too large"])  # what another check gave, where it explains nothing


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
    unseen = ANSWERS["trouble unseen"].format(trouble=kind_of_trouble(form, case.target.right))
    return Explanation(contract(form, case.target.right, case.target.names), unseen, complete=True)


def known_mistake(case: Case) -> Explanation | None:
    """A known mistake, written by the lesson's author, gives the same values on every check that it fails.

    Where they are no numbers of its own, other mistakes give them too, so a repair of the student's code is told as
    well, if there is one.
    """
    fits = mutants_that_fit(case)
    best = [fit for fit in fits if fit.everywhere] or [fit for fit in fits if fit.visible and not case.target.hidden]
    alone = len({family_of(fit.name) for fit in best}) == 1
    for fit in best:
        if PRAISE.search(case.messages[fit.name]) and not fit.whole:
            return None
        if found := told(named(case, fit.name), fit.name, case, alone=alone):
            return found
    return None


def named(case: Case, mistake: str) -> Explanation:
    """Return what the author says about a known mistake."""
    return Explanation(case.messages[mistake], mistake=family_of(mistake), hint=case.hints.get(mistake, 0))


def repair(case: Case) -> Explanation | None:
    """An edit of the student's own code passes every check: it was run."""
    proved = case.search().repair
    if not proved:
        return None
    returned = isinstance(case.outcome, Returned) and case.target.hidden
    trouble = kind_of_trouble(fingerprint(case.outcome), case.target.right) if returned else ""
    form = trouble in ("The result has another shape", "The result has another dtype")
    differs = ANSWERS["trouble unseen"].format(trouble=trouble) if form else ANSWERS["differs"]
    law = f" {case.search().law}".rstrip() if not case.search().proof or VAGUE.search(proved) else ""
    return Explanation(f"{cause(case)} {proved}{law}".strip(), f"{differs} {proved}{law}")


def cause(case: Case) -> str:
    """Return what an exception means, where it is known; beside a proof nothing is asked."""
    if not isinstance(case.outcome, Raised) or case.target.hidden:
        return ""
    sentences = SENTENCES.split(meaning(case.outcome)[1])
    return " ".join(sentence for sentence in sentences if not sentence.endswith("?"))


def exception(case: Case) -> Explanation | None:
    """It stopped with an error: what happened, and what that means where it is known."""
    if not isinstance(case.outcome, Raised):
        return None
    name, message = meaning(case.outcome)
    line = line_of(case.outcome, case.source)
    where = ANSWERS["error in line"].format(line=line) if line else ANSWERS["error unseen"]
    happened = "" if name in ("open", "stub") else f"{what_happened(case.outcome).removesuffix('.')}. "
    return Explanation(f"{happened}{message}".strip(), f"{where} {message}".strip(), complete=True, sentence=name)


def what_is_there(case: Case) -> Explanation:
    """No more than what came out, or where it differs; of a hidden check, no more than the kind of trouble."""
    outcome = case.outcome
    message = what_came_out(case.target, outcome)[0] or ANSWERS["only numbers"]
    if isinstance(outcome, Lost):
        kind = "overtime" if outcome.overtime else "no return" if outcome.reason == NO_RETURN else "no value"
        return Explanation(message, ANSWERS[f"{kind} unseen"], complete=True, sentence=f"{kind} unseen")
    trouble = kind_of_trouble(fingerprint(outcome), case.target.right) if case.target.hidden else ""
    unseen = ANSWERS["trouble unseen"].format(trouble=trouble) if trouble else ""
    return Explanation(message, unseen, complete=True)


EXPLAINERS: tuple[Explainer, ...] = (  # in order; docs/grading.md has the same list
    too_large,
    known_mistake,
    repair,
    exception,
    what_is_there,
)


OPEN = (exception, what_is_there)  # they leave it open what in the code is to be changed


def with_what_is_seen(explanation: Explanation, case: Case) -> Explanation:
    """Return an explanation with what was seen in the code: by reading it, by running it, and by running it edited."""
    seen = case.search()
    law = "" if seen.proof or isinstance(case.outcome, Lost) else seen.law
    more = " ".join(filter(None, (unread(case), seen.nan, seen.cut, seen.repair, law)))
    if not more:
        return explanation
    unseen = f"{explanation.unseen} {more}" if explanation.unseen else ""
    return replace(explanation, message=f"{explanation.message} {more}", unseen=unseen)


def unread(case: Case) -> str:
    """Return what strikes the eye in the code: which arguments nothing reads, say."""
    return "" if is_overtime(case) else " ".join(seen_in(case.source))


def is_overtime(case: Case) -> bool:
    """Say whether the first failed check took too long: then that is what there is to say."""
    return isinstance(case.outcome, Lost) and case.outcome.overtime


def explanations(case: Case) -> Iterator[tuple[str, Explanation]]:
    """Yield what each explainer that applies says, with its name, in order; what is too large has but one."""
    short = [
        FAR_TOO_MUCH if is_far_too_large(o, t.right) else o for t, o in zip(case.targets, case.outcomes, strict=True)
    ]
    short[case.first] = case.outcome
    case = replace(case, outcomes=short, search=cache(case.search))
    for explainer in EXPLAINERS:
        explanation = explainer(case)
        if explanation and explainer in OPEN:
            explanation = with_what_is_seen(explanation, case)
        if explanation:
            yield explainer.__name__, explanation
        if explanation and explainer is too_large:
            return


def explain(case: Case) -> Failure:
    """Say what went wrong on the first failed check: the first explainer that applies does."""
    rule, explanation = next(explanations(case))
    return failure_of(case, rule, explanation)


def is_plain(case: Case, *, by_edit: bool = False) -> bool:
    """Say whether what came out wrong says nothing beside a reason: a yes or no, or beside words a text."""
    outcome, right = case.outcome, case.target.right.get("leaves", {})
    if not isinstance(outcome, Returned) or {leaf.path for leaf in outcome.leaves()} != right.keys():
        return False
    wrong = next((leaf for leaf in outcome.leaves() if not is_right(leaf, right[leaf.path], case.target)), None)
    return wrong is not None and isinstance(wrong.value, bool if by_edit else bool | str)


def failure_of(case: Case, rule: str, explanation: Explanation) -> Failure:
    """Return an explanation as what a student reads; of a hidden check, no word about what came out."""
    target = case.target
    hidden, message = target.hidden, explanation.message
    detail, picture = "", None
    if not hidden and rule != too_large.__name__:
        detail, picture = what_came_out(target, case.outcome)
    if hidden:
        message = explanation.unseen or message
    if explanation.complete or message.startswith(detail) or is_plain(case, by_edit=rule == repair.__name__):
        detail = ""
    unknown = ""
    if rule == too_large.__name__:
        unknown = key_of([target.name, message])
    elif not explanation.mistake:
        unknown = unknown_key(target, case.outcome)
    return Failure(target.title, message, detail, explanation.mistake, picture, hidden, explanation.hint, unknown, rule)
