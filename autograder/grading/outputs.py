"""Outputs as a graded notebook holds them: known keys, known types, no more than people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST_LINES, MOST_TRACEBACK_LINES = 1000, 100  # as nbgrader's LimitOutput
CUT_LINE = "... Output truncated ..."
CUT_TRACEBACK = "... Traceback truncated ..."

Output = dict[str, Any]


def clean_outputs(outputs: list[Output]) -> list[Output]:
    """Return a cell's outputs with nothing but what the notebook format names, and not too much of it."""
    lines_left, clean = MOST_LINES, []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream":
            lines = output["text"].split("\n")
            if not lines_left:
                continue
            if len(lines) > lines_left:
                lines = [*lines[: lines_left - 1], CUT_LINE]
            lines_left -= len(lines)
            clean.append({"output_type": kind, "name": output["name"], "text": "\n".join(lines)})
        elif kind == "error":
            shown = limited(output["traceback"])
            clean.append({"output_type": kind, **{k: output[k] for k in ("ename", "evalue")}, "traceback": shown})
        else:
            count = {"execution_count": None} if kind == "execute_result" else {}
            clean.append({"output_type": kind, "data": output["data"], "metadata": output["metadata"], **count})
    return clean


def limited(traceback: list[str]) -> list[str]:
    """Return the beginning and the end of a long traceback."""
    if len(traceback) <= MOST_TRACEBACK_LINES:
        return traceback
    start = MOST_TRACEBACK_LINES // 2
    return [*traceback[:start], CUT_TRACEBACK, *traceback[-(MOST_TRACEBACK_LINES - start - 1) :]]


def score_output(points: int, card: str) -> Mapping[str, Any]:
    """Return the one output of a graded check cell: nbgrader reads the number, people read the card."""
    data = {"text/plain": str(points), "text/html": card}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}
