"""What strikes the eye where sets of labels are laid side by side. Observations: no cause is claimed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from .sentences import LABELS

LABEL = re.compile(r"[a-z_]+(?:, [a-z_]+)*")
NO_LABEL = "none"
LEAST_LABELED = 3
MOST_LABELS = 3


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
