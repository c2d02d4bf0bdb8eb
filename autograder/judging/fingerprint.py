"""Values as a few comparable numbers: what a student may be given of a right or a known wrong answer.

A tensor becomes its dtype, its shape, how many of its entries are not finite, and four inner products with fixed
random vectors. That is enough to recognise an answer and too little to read it off.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .values import Leaf, Lost, Other, Outcome, Raised, plain

PRODUCTS = 4
TOLERANCE = 1e-3

Fingerprint = dict[str, Any]


def fingerprint(outcome: Outcome) -> Fingerprint:
    """Return an outcome as JSON-ready data."""
    if isinstance(outcome, Raised):
        return {"raised": outcome.kind, "text": outcome.text}
    if isinstance(outcome, Lost):
        return {"lost": outcome.reason}
    leaves = {leaf.path: leaf_fingerprint(leaf) for leaf in outcome.leaves()}
    return {"leaves": leaves, "changed": True} if outcome.changed else {"leaves": leaves}


def leaf_fingerprint(leaf: Leaf) -> Fingerprint:
    """Return one leaf's fingerprint."""
    value = leaf.value
    if isinstance(value, Tensor):
        return tensor_fingerprint(value)
    if isinstance(value, Other):
        return {"other": value.kind}
    if isinstance(value, float):
        return {"number": repr(value) if not math.isfinite(value) else value}
    return {"plain": value, "type": type(value).__name__}


def tensor_fingerprint(tensor: Tensor) -> Fingerprint:
    """Return a tensor's dtype, shape, count of non-finite entries and inner products."""
    numbers = plain(tensor).to(torch.float64).flatten()
    finite = numbers.isfinite()
    vectors = torch.randn(PRODUCTS, numbers.numel(), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    products = vectors @ torch.where(finite, numbers, 0.0)
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "nan": int(numbers.isnan().sum()),
        "infinite": int(numbers.isinf().sum()),
        "products": [round(float(p), 6) + 0.0 for p in products],
    }


def same(a: Fingerprint, b: Fingerprint) -> bool:
    """Say whether two fingerprints belong to the same answer."""
    if "leaves" not in a or "leaves" not in b or a.get("changed") != b.get("changed"):
        return a == b
    return a["leaves"].keys() == b["leaves"].keys() and all(
        same_leaf(p, b["leaves"][k]) for k, p in a["leaves"].items()
    )


def same_leaf(a: Fingerprint, b: Fingerprint) -> bool:
    """Compare two leaves: numbers within TOLERANCE, everything else exactly."""
    if a.keys() != b.keys():
        return False
    return all(is_close(value, b[key]) if key in ("products", "number") else value == b[key] for key, value in a.items())


def is_close(a: Any, b: Any) -> bool:
    """Compare numbers, or lists of them, relative to their size where that is above 1."""
    if isinstance(a, list):
        return len(a) == len(b) and all(is_close(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, str) or isinstance(b, str):
        return bool(a == b)
    return bool(abs(a - b) <= TOLERANCE * max(1.0, abs(b)))
