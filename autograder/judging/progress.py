"""What an edit makes right in a check that still fails: some of its values, or a dtype."""

from __future__ import annotations

from .fingerprint import SMALLEST_SIZE, Fingerprint, fingerprint, same_leaf
from .target import LARGE, Target
from .values import Outcome, Returned


def gained(target: Target, before: Outcome, after: Outcome) -> tuple[str, ...]:
    """Return the paths of values that an edit has made right, none where it has made one wrong or nothing is told.

    A value is told by numbers that nobody meets by chance. The dtype alone counts where the numbers stay as they were.

    Args:
        target: what is known about the check.
        before: what it gave.
        after: what it gives on the edited cell.
    """
    theirs = target.right.get("leaves", {})
    if not isinstance(before, Returned) or not isinstance(after, Returned) or after.changed or after.settings:
        return ()
    old, new = fingerprint(before)["leaves"], fingerprint(after)["leaves"]
    if old.keys() != theirs.keys() or new.keys() != theirs.keys():
        return ()
    was = {path for path in theirs if same_leaf(old[path], theirs[path], target.tolerance)}
    now = {path for path in theirs if same_leaf(new[path], theirs[path], target.tolerance)}
    if not was <= now:
        return ()
    more = [path for path in theirs if path in now - was and is_telling(theirs[path])]
    return tuple(more) if len(theirs) > 1 else ()


def is_telling(right: Fingerprint) -> bool:
    """Say whether a right value is hardly met by chance: a tensor of numbers, or a large count."""
    if "dtype" in right:
        return right["dtype"] != "bool" and right.get("norm", 0) > SMALLEST_SIZE and bool(right["shape"])
    number = right.get("number", right.get("plain"))
    return isinstance(number, int | float) and not isinstance(number, bool) and abs(number) > LARGE
