"""How much there is to an answer: one that is far larger than the right one is not searched for reasons.

What explaining takes grows with the number of values and of their entries, and both are the submission's choice. The
bound counts them instead of seconds, so that the same answer gets the same words on every computer.
"""

from __future__ import annotations

import math

from torch import Tensor

from .fingerprint import Fingerprint, leaf_fingerprint
from .values import Leaf, Outcome, Returned

LEAF = 200  # looking at one value takes as long as at so many entries of a tensor
ALWAYS_SEARCHED = 100_000
TIMES_THE_RIGHT_ONE = 2


def is_far_too_large(outcome: Outcome, right: Fingerprint) -> bool:
    """Say whether an answer holds so much that it has another structure or other shapes than the right one.

    Args:
        outcome: the answer.
        right: the right one's fingerprint.
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
