"""What strikes the eye where two tables of numbers are laid side by side. Observations: no cause is claimed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from .sentences import LABELS, PATTERNS

LABEL = re.compile(r"[a-z_]+(?:, [a-z_]+)*")
NO_LABEL = "none"
LEAST_LABELED = 3
MOST_LABELS = 3
LEAST_ENTRIES = 4
MOST_FACTORS = 6
SMALL = 5e-3  # the right values may be rounded to three digits


def pattern(mine: Tensor, right: Tensor) -> str:
    """Return how two tensors of one shape differ as a whole; '' where that has no simple name.

    Args:
        mine: what came out, in float64.
        right: what was expected, in float64; it may be rounded.
    """
    large = right.abs() > SMALL
    if int(large.sum()) < LEAST_ENTRIES or not bool(mine.isfinite().all() & right.isfinite().all()):
        return ""
    if bool((mine[large].sign() == -right[large].sign()).all()):
        return PATTERNS["signs"]
    return next(factors_of_parts(mine, right), "")


def factors_of_parts(mine: Tensor, right: Tensor) -> Iterator[str]:
    """Look for an axis along which each part is right but for a factor of its own."""
    for axis, name in enumerate(NAMES.get(right.ndim, ())):
        factors = []
        for a, b in zip(mine.unbind(axis), right.unbind(axis), strict=True):
            factor = float((a * b).sum() / (b * b).sum().clamp(min=SMALL**2))
            if int((b.abs() > SMALL).sum()) < 2 or not torch.allclose(a, factor * b, atol=SMALL, rtol=SMALL):
                break
            factors.append(f"{factor:.3g}")
        if len(factors) == right.size(axis) > 1 and len(set(factors)) > 1:
            yield PATTERNS["factors"].format(part=name, factors=", ".join(factors[:MOST_FACTORS]))


NAMES = {2: ("row", "column"), 3: ("part along the first axis", "row", "column")}


def labels_seen(mine: Mapping[str, str], right: Mapping[str, str]) -> str:
    """Return how sets of labels, written as text, differ over all that was asked; '' for other texts.

    Args:
        mine: what came out, by what it belongs to.
        right: what was expected.
    """
    texts = [*right.values(), *mine.values()]
    if len(right) < LEAST_LABELED or mine.keys() != right.keys() or not all(map(LABEL.fullmatch, texts)):
        return ""
    seen: dict[str, list[str]] = {kind: [] for kind in LABELS}
    for name, text in right.items():
        asked, found = labels_of(text), labels_of(mine[name])
        missed, extra = " and ".join(sorted(asked - found)), " and ".join(sorted(found - asked))
        kind = "taken" if missed and extra else "missed" if missed else "alarm" if not asked else "beside"
        if missed or extra:
            seen[kind].append(LABELS[kind].format(right=text, missed=missed, extra=extra))
    return " ".join(f"{said}." for all_said in seen.values() for said in dict.fromkeys(all_said[:MOST_LABELS]))


def labels_of(text: str) -> set[str]:
    """Return the labels in a text."""
    return set(text.split(", ")) - {NO_LABEL}
