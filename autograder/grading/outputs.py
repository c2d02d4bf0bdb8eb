"""Outputs as a graded notebook holds them: rebuilt from known keys, known types and known characters.

What a submission shows is later put into pages that an instructor opens. nbconvert's templates trust an output's
metadata and some of its types, so nothing of them is kept but what is made here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .untrusted import printable

MOST_OUTPUTS, MOST_OUTPUTS_OF_A_CELL = 2000, 500
MOST_LINES, MOST_TRACEBACK_LINES = 1000, 100  # as nbgrader's LimitOutput
NOT_SHOWN = "[not shown]"
CUT_LINE = "... Output truncated ..."
CUT_TRACEBACK = "... Traceback truncated ..."
TEXTS = ("text/plain", "text/html", "text/latex", "text/markdown")
IMAGES = ("image/png", "image/jpeg", "image/gif")
BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*")
NOT_IN_A_DESCRIPTION = re.compile(r"[^\w\s.,;:()%+/=-]")  # a template writes it between quotes, unescaped
LONGEST_DESCRIPTION = 400
LONGEST_LINE, LONGEST_STREAM = 2000, 100_000
LONGEST = {"text/plain": 100_000, "text/html": 50_000, "text/latex": 10_000, "text/markdown": 10_000}

Output = dict[str, Any]


def clean_outputs(outputs: list[Output], most: int = MOST_OUTPUTS_OF_A_CELL) -> list[Output]:
    """Return a cell's outputs, and no more of them than people read.

    Args:
        outputs: what it showed.
        most: how many outputs there may be at most.
    """
    lines_left, most, clean = MOST_LINES, min(most, MOST_OUTPUTS_OF_A_CELL), list[Output]()
    for output in outputs[:most]:
        if output["output_type"] == "stream":
            lines = output["text"].split("\n")
            if not lines_left:
                continue
            if len(lines) > lines_left:
                lines = [*lines[: lines_left - 1], CUT_LINE]
            lines_left -= len(lines)
            text = printable("\n".join(lines))
            shown = text if len(text) <= LONGEST_STREAM else f"{text[:LONGEST_STREAM]}\n{CUT_LINE}"
            clean.append({"output_type": "stream", "name": output["name"], "text": shown})
        else:
            clean.append(clean_output(output))
    if len(outputs) > most > 0:
        clean[-1] = {"output_type": "stream", "name": "stdout", "text": CUT_LINE}
    return clean


def clean_output(output: Output) -> Output:
    """Return an error or something displayed, with what is known of it."""
    output_type = output["output_type"]
    if output_type == "error":
        lines = [printable(line)[:LONGEST_LINE] for line in limited(output["traceback"])]
        words = {key: printable(output[key])[:LONGEST_LINE] for key in ("ename", "evalue")}
        return {"output_type": output_type, **words, "traceback": lines}
    count = {"execution_count": None} if output_type == "execute_result" else {}
    data = dict(known_data(output["data"])) or {"text/plain": NOT_SHOWN}  # no template takes an empty one
    return {"output_type": output_type, "data": data, "metadata": descriptions(data, output["metadata"]), **count}


def known_data(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what an output holds of texts and pictures."""
    for mime in (*TEXTS, *IMAGES):
        value = data.get(mime)
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            value = "".join(value)
        if isinstance(value, str) and (len(value) <= LONGEST[mime] if mime in TEXTS else BASE64.fullmatch(value)):
            yield mime, printable(value)


def descriptions(data: dict[str, str], metadata: dict[str, Any]) -> dict[str, Any]:
    """Return metadata that holds a picture's description and nothing else."""
    kept = {}
    for mime in IMAGES:
        about = metadata.get(mime) if mime in data else None
        alt = about.get("alt") if isinstance(about, dict) else None
        if isinstance(alt, str):
            kept[mime] = {"alt": NOT_IN_A_DESCRIPTION.sub("", alt)[:LONGEST_DESCRIPTION]}
    return kept


def limited(traceback: list[str]) -> list[str]:
    """Return the beginning and the end of a long traceback."""
    if len(traceback) <= MOST_TRACEBACK_LINES:
        return traceback
    start = MOST_TRACEBACK_LINES // 2
    return [*traceback[:start], CUT_TRACEBACK, *traceback[-(MOST_TRACEBACK_LINES - start - 1) :]]


def score_output(points: int, card: str) -> Output:
    """Return the one output of a graded check cell: nbgrader reads the number, people read the card."""
    data = {"text/plain": str(points), "text/html": card}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}
