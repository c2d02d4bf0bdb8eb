"""What students get of a check: fingerprints, of wrong answers only what differs from the right one's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .fingerprint import EXACT, Fingerprint, tolerance_of
from .target import Target

ROUNDING = 3
DIGITS = 7  # of what was calculated; the tolerance is a hundred times as wide or more
GONE = "-"
Compact = dict[str, Any] | str


def home_data(target: Target, telling: set[str]) -> dict[str, Any]:
    """Return one check's part of fingerprints.json."""
    data: dict[str, Any] = {"right": target.right}
    data["mistakes"] = compact({n: known for n, known in target.mistakes.items() if n in telling}, target.right)
    if target.expected is not None:
        data["expected"] = {
            path: (value.double() * 10**ROUNDING).round().div(10**ROUNDING).tolist()
            for path, value in target.expected.items()
        }
    return data


def compact(prints: Mapping[str, Fingerprint], right: Fingerprint) -> dict[str, Compact]:
    """Return fingerprints by name, each as its difference from the right one, or as the name of an equal one."""
    first: dict[str, str] = {}
    found: dict[str, Compact] = {}
    for name, known in prints.items():
        data = difference(known, right)
        found[name] = first.get(repr(data), data)
        first.setdefault(repr(data), name)
    return found


def expanded(prints: Mapping[str, Compact], right: Fingerprint) -> dict[str, Fingerprint]:
    """Return the fingerprints that `compact` was given, but for the last digits of calculated numbers."""
    found: dict[str, Fingerprint] = {}
    for name, data in prints.items():
        found[name] = found[data] if isinstance(data, str) else with_difference(data, right)
    return found


def difference(known: Fingerprint, right: Fingerprint) -> dict[str, Any]:
    """Return what is different in a fingerprint; an error has no likeness to the right answer and stays whole."""
    if "leaves" not in known or "leaves" not in right:
        return known
    theirs = right["leaves"]
    changed = {path: keys_that_differ(leaf, theirs.get(path, {})) for path, leaf in known["leaves"].items()}
    data: dict[str, Any] = {"but": {path: keys for path, keys in changed.items() if keys}}
    missing = [path for path in theirs if path not in known["leaves"]]
    return data | ({"without": missing} if missing else {}) | ({"changed": True} if known.get("changed") else {})


def keys_that_differ(leaf: Fingerprint, right: Fingerprint) -> Fingerprint:
    """Return a leaf's entries that the right leaf has not, and under GONE the keys that it has not itself."""
    entries = {key: value for key, value in leaf.items() if key not in right or right[key] != value}
    if "products" in entries and tolerance_of(leaf) > EXACT:
        entries["products"] = [shortened(product, float(leaf["norm"])) for product in entries["products"]]
    gone = [key for key in right if key not in leaf]
    return entries | ({GONE: gone} if gone else {})


def shortened(number: float, size: float) -> float:
    """Return a number to as many digits as count beside another one."""
    return round(number, DIGITS + 1 - len(str(int(size))))


def with_difference(data: Mapping[str, Any], right: Fingerprint) -> Fingerprint:
    """Return the fingerprint that differs from the right one in this."""
    if "but" not in data:
        return dict(data)
    gone, leaves = data.get("without", ()), {}
    for path in [*right["leaves"], *(path for path in data["but"] if path not in right["leaves"])]:
        if path not in gone:
            leaf = right["leaves"].get(path, {}) | data["but"].get(path, {})
            leaves[path] = {key: value for key, value in leaf.items() if key not in (GONE, *leaf.get(GONE, ()))}
    return {"leaves": leaves} | ({"changed": True} if data.get("changed") else {})
