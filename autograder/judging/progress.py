"""What an edit makes right in a check that still fails: some of its values, a dtype, or a shape."""

from __future__ import annotations

from .fingerprint import SMALLEST_SIZE, Fingerprint, fingerprint, same_leaf
from .target import Target
from .values import Lost, Outcome, Returned

HOME_ROUNDING = 2e-3
LARGE = 20  # a count above it is hardly met by chance


def gained(target: Target, before: Outcome, after: Outcome) -> tuple[str, ...]:
    """Return the paths of values that an edit has made right, none where it has made one wrong or nothing is told.

    In their place stands "numbers", "dtype" or "shape" where only these are right now. A value is told by numbers that
    nobody meets by chance; a yes or no, which many edits turn, comes last. The dtype alone counts where the numbers
    stay as they were, and the shape alone where it was wrong, or nothing came back.

    Args:
        target: what is known about the check.
        before: what it gave.
        after: what it gives on the edited cell.
    """
    theirs = target.right.get("leaves", {})
    if not isinstance(after, Returned) or after.changed or after.settings or isinstance(before, Lost):
        return ()
    old, new = fingerprint(before).get("leaves", {}), fingerprint(after)["leaves"]
    if new.keys() != theirs.keys():
        return ()
    was = {path for path in theirs if path in old and same_leaf(old[path], theirs[path], target.tolerance)}
    now = {path for path in theirs if same_leaf(new[path], theirs[path], target.tolerance)}
    if not was <= now:
        return ()
    turned = [path for path in theirs if path in now - was]
    more = [path for path in turned if is_telling(theirs[path])]
    texts = [path for path in turned if isinstance(theirs[path].get("plain"), str)]
    if more or len(texts) > 1:
        return tuple(more or texts)
    form = in_form(old, new, theirs, target.tolerance) if old.keys() == theirs.keys() else []
    return tuple(form or in_shape(old, new, theirs) or (["yes or no"] if turned and old else []))


def in_shape(old: Fingerprint, new: Fingerprint, theirs: Fingerprint) -> list[str]:
    """Return that every tensor has the right shape now, where some had another one, or nothing came back."""
    asked = {path: leaf["shape"] for path, leaf in theirs.items() if leaf.get("shape")}
    wrong, right = ({p for p in asked if leaves.get(p, {}).get("shape") != asked[p]} for leaves in (old, new))
    return ["shape"] if wrong and not right else []


def in_form(old: Fingerprint, new: Fingerprint, theirs: Fingerprint, tolerance: float | None) -> list[str]:
    """Return what comes out right of one tensor: its dtype, with the numbers that it had, or its numbers alone."""
    for path in theirs:
        was, now, right = old[path], new[path], theirs[path]
        if not all("dtype" in leaf for leaf in (was, now, right)):
            continue
        kept = now["norm"] > 0 and same_leaf({**was, "dtype": now["dtype"]}, now, tolerance)
        if was["dtype"] != now["dtype"] == right["dtype"] and kept:
            return ["dtype"]
        if not is_telling(right):
            continue
        form = {"dtype": right["dtype"]}
        numbers = [same_leaf({**p, **form}, right, tolerance) for p in (was, now)]
        if numbers == [False, True]:
            return ["numbers"]
    return []


def is_telling(right: Fingerprint) -> bool:
    """Say whether a right value is hardly met by chance: a tensor of numbers, or a large count."""
    if "dtype" in right:
        return right["dtype"] != "bool" and right.get("norm", 0) > SMALLEST_SIZE and bool(right["shape"])
    number = right.get("number", right.get("plain"))
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) > LARGE
