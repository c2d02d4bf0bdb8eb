"""Values as a few comparable numbers: what a student may be given of a right or a known wrong answer.

A tensor becomes its dtype, its shape, how many of its entries are not finite, its norm, and four inner products with
fixed random vectors. Where entries are not finite, one more product for each kind of them says which entries they are.
That is enough to recognize an answer and too little to read it off.

One strictness: `tolerance_of` says how far apart two values may be, relative to their size, and both sides use it, the
student's workspace on fingerprints and grading on the values themselves. Grading allows `GRADING_SLACK` times as much,
so that nobody who was told "right" at home, where a distance is only estimated, loses the point on other inputs.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from .values import Leaf, Lost, Other, Outcome, Raised, Returned, entries_of, plain

PRODUCTS = 4
DECIMALS = 8
USUAL_ENTRIES = 2**17
MOST_ENTRIES = 500_000  # of a tensor: no more reach the judge from a submission, and each takes 60 bytes here
TOO_LARGE = f"tensor beyond {MOST_ENTRIES:,} entries"
TOLERANCES = {"float64": 1e-4, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
SAME_PRODUCT = 1e-6  # products of tables of 0 and 1, but for the order of summation
EXACT = 1e-9  # whole numbers are counted or moved, not calculated
GRADING_SLACK = 4.0
LEAF = 200  # looking at one value takes as long as at so many entries of a tensor
ALWAYS_SEARCHED, TIMES_THE_RIGHT_ONE = 100_000, 2
SMALLEST_SIZE = 1e-2  # below it a difference counts as it is, not relative to the value

# What is called otherwise in a known mistake than in a student's work: `'MyClass' object`, `my_function() missing`.
OWN_NAME = re.compile(r"'\w+'(?= object has no attribute)|\b[\w.]+\(\)(?= (?:missing|takes|got))")

Fingerprint = dict[str, Any]
KEPT: WeakKeyDictionary[Returned, Fingerprint] = WeakKeyDictionary()


def tolerance_of(leaf: Fingerprint, asked: float | None = None) -> float:
    """Return how far apart values may be, relative to their size: what follows from the dtype, or a wider one."""
    if leaf.get("whole"):
        return EXACT
    own = TOLERANCES.get(leaf.get("dtype", "float64"))
    return EXACT if own is None else max(own, asked or 0.0)


def fingerprint(outcome: Outcome) -> Fingerprint:
    """Return an outcome as JSON-ready data. It is kept with the outcome, and no longer than that is."""
    if not isinstance(outcome, Returned):
        return outcome_fingerprint(outcome)
    if outcome not in KEPT:
        KEPT[outcome] = outcome_fingerprint(outcome)
    return KEPT[outcome]


def outcome_fingerprint(outcome: Outcome) -> Fingerprint:
    """Calculate an outcome's fingerprint."""
    if isinstance(outcome, Raised):
        return {"raised": outcome.kind, "text": OWN_NAME.sub("…", outcome.text)}
    if isinstance(outcome, Lost):
        return {"lost": outcome.reason}
    leaves = {leaf.path: leaf_fingerprint(leaf) for leaf in outcome.leaves()}
    whole: Fingerprint = {"leaves": leaves}
    if outcome.changed:
        whole["changed"] = True
    if outcome.settings:
        whole["settings"] = list(outcome.settings)
    return whole


def leaf_fingerprint(leaf: Leaf) -> Fingerprint:
    """Return one leaf's fingerprint."""
    value = leaf.value
    if isinstance(value, Tensor) and entries_of(value) > MOST_ENTRIES:
        return {"other": TOO_LARGE}
    if isinstance(value, Tensor):
        return tensor_fingerprint(value) | ({"array": True} if leaf.array else {})
    if isinstance(value, Other):
        return {"other": value.kind}
    if isinstance(value, float):
        return {"number": repr(value) if not math.isfinite(value) else float(value)}
    return {"plain": value, "type": type(value).__name__}


def vectors(length: int) -> Tensor:
    """Return the fixed random vectors for tensors of one size; those of usual sizes are kept."""
    return (kept_vectors if length <= USUAL_ENTRIES else kept_vectors.__wrapped__)(length)


@lru_cache(maxsize=64)
def kept_vectors(length: int) -> Tensor:
    """Draw the vectors for tensors of one size, and keep them."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(PRODUCTS, length, generator=generator, dtype=torch.float64)


def real_numbers(tensor: Tensor) -> Tensor:
    """Return a tensor's entries in float64; a complex entry becomes two."""
    copy = plain(tensor)
    return (torch.view_as_real(copy) if copy.is_complex() else copy).to(torch.float64)


def not_finite(numbers: Tensor) -> dict[str, Tensor]:
    """Return where NaN and either infinity are, by name; what there is none of is left out."""
    if bool(numbers.isfinite().all()):
        return {}
    tables = {"nan": numbers.isnan(), "inf": numbers.isposinf(), "-inf": numbers.isneginf()}
    return {name: table for name, table in tables.items() if bool(table.any())}


def is_whole(numbers: Tensor) -> bool:
    """Whether finite numbers are whole ones that are counted or moved, not calculated: one of them is beyond 1."""
    return numbers.numel() > 0 and float(numbers.abs().max()) > 1 and bool((numbers == numbers.round()).all())


def tensor_fingerprint(tensor: Tensor) -> Fingerprint:
    """Return a tensor's dtype, shape, counts and positions of non-finite entries, norm and inner products."""
    numbers = real_numbers(tensor).flatten()
    tables = not_finite(numbers)
    counts = [int(tables[name].sum()) if name in tables else 0 for name in ("nan", "inf", "-inf")]
    kept = torch.where(numbers.isfinite(), numbers, 0.0) if tables else numbers
    found: Fingerprint = {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "nan": counts[0],
        "infinite": counts[1:],
        "norm": finite_decimals(norm_of(kept)),
        "products": [finite_decimals(p) for p in (vectors(kept.numel()) @ kept).tolist()],
    }
    if tensor.dtype.is_floating_point and is_whole(kept):
        found["whole"] = True
    if tables:
        first = vectors(numbers.numel())[0]
        found["positions"] = {name: finite_decimals(float(first @ table.double())) for name, table in tables.items()}
    return found


def norm_of(numbers: Tensor) -> float:
    """Return the norm of finite numbers, whose squares may be too large for a float."""
    norm = float(torch.linalg.vector_norm(numbers))
    if math.isfinite(norm):
        return norm
    largest = float(numbers.abs().max())
    return largest * float(torch.linalg.vector_norm(numbers / largest))


def finite_decimals(number: float) -> float:
    """Return a number to some decimals; one that is too large for a float keeps to the largest of its sign."""
    return round(number, DECIMALS) + 0.0 if math.isfinite(number) else math.copysign(sys.float_info.max, number)


def same(a: Fingerprint, b: Fingerprint, tolerance: float | None = None, grace: float = 1.0) -> bool:
    """Say whether two fingerprints belong to the same answer; `b` is the known one.

    A setting that the known answer changes may be changed, and need not be.
    """
    if "leaves" not in a or "leaves" not in b or a.get("changed") != b.get("changed"):
        return a == b
    if not set(a.get("settings", ())) <= set(b.get("settings", ())):
        return False
    return a["leaves"].keys() == b["leaves"].keys() and all(
        same_leaf(p, b["leaves"][k], tolerance, grace) for k, p in a["leaves"].items()
    )


def same_leaf(a: Fingerprint, b: Fingerprint, tolerance: float | None = None, grace: float = 1.0) -> bool:
    """Compare two leaves: numbers within the tolerance, everything else exactly."""
    if "products" in a and "products" in b:
        alike = all(a.get(key) == b.get(key) for key in ("array", "dtype", "shape", "nan", "infinite"))
        limit = grace * tolerance_of(b, tolerance) * size_of(b) + 2 * 10**-DECIMALS
        return alike and same_positions(a, b) and max(apart(a, b), abs(a["norm"] - b["norm"])) <= limit
    if "number" in a and "number" in b:
        return numbers_agree(a["number"], b["number"], grace * tolerance_of(b, tolerance))
    return a == b


def same_positions(a: Fingerprint, b: Fingerprint) -> bool:
    """Say whether the same entries of two tensors of one shape are NaN, and either infinity."""
    ours, right = a.get("positions", {}), b.get("positions", {})
    return ours.keys() == right.keys() and all(abs(ours[name] - right[name]) <= SAME_PRODUCT for name in right)


def apart(a: Fingerprint, b: Fingerprint) -> float:
    """Estimate the norm of the difference of two tensors of one shape."""
    return distance(a["products"], b["products"])


def distance(mine: Sequence[float], theirs: Sequence[float]) -> float:
    """Estimate the norm of a difference from its inner products, which may be too large to be squared."""
    return math.dist(mine, theirs) / math.sqrt(PRODUCTS)


def size_of(leaf: Fingerprint) -> float:
    """Return what a difference is measured by."""
    return max(float(leaf["norm"]), SMALLEST_SIZE)


def numbers_agree(mine: float | str, theirs: float | str, limit: float) -> bool:
    """Compare two plain numbers. One that is not finite agrees with its like alone."""
    a, b = float(mine), float(theirs)
    if not (math.isfinite(a) and math.isfinite(b)):
        return a == b or (math.isnan(a) and math.isnan(b))
    return abs(a - b) <= limit * max(SMALLEST_SIZE, abs(b))


def is_far_too_large(outcome: Outcome, right: Fingerprint) -> bool:
    """Say whether an answer holds so much that it has another structure or other shapes than the right one.

    What explaining takes grows with the number of values and of their entries, and both are the submission's choice.
    They are counted instead of seconds, so that the same answer gets the same words on every computer.
    """
    if not isinstance(outcome, Returned):
        return False
    leaves = outcome.leaves()
    mine = LEAF * len(leaves) + sum(leaf.value.numel() for leaf in leaves if isinstance(leaf.value, Tensor))
    theirs = right.get("leaves", {}).values()
    asked = LEAF * len(theirs) + sum(math.prod(leaf["shape"]) for leaf in theirs if "shape" in leaf)
    return bool(mine > max(ALWAYS_SEARCHED, TIMES_THE_RIGHT_ONE * asked))


def form_of(outcome: Returned) -> Fingerprint:
    """Return a fingerprint without numbers: of each tensor its dtype and shape."""
    return {"leaves": {leaf.path: form_of_leaf(leaf) for leaf in outcome.leaves()}}


def form_of_leaf(leaf: Leaf) -> Fingerprint:
    """Return one leaf's part of it."""
    if not isinstance(leaf.value, Tensor):
        return leaf_fingerprint(leaf)
    name = str(leaf.value.dtype).removeprefix("torch.")
    form: Fingerprint = {"dtype": name, "shape": list(leaf.value.shape), "nan": 0, "infinite": [0, 0]}
    return form | ({"array": True} if leaf.array else {})
