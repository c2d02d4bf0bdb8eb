"""The frames of a figure that moves, for pages without a kernel: three in a row, or all of them in one picture."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy
from matplotlib.figure import Figure
from matplotlib.image import imsave

from .drawing import PAPER, WIDEST, new_figure, png

SIZE = (6.4, 2.7)
DPI = 90
STILL_HEIGHTS = (0, 2.3, 4.8)  # inches, of one panel and of two below each other
Draw = Callable[..., str]  # from panels and one chosen value per control to what can be seen, in words
Choices = Mapping[str, Mapping[str, Any]]  # by what a control is called: its values by what each is called


def frame(draw: Draw, values: Sequence[Any], panels: int) -> tuple[Figure, str]:
    """Return one frame as a figure, with its words."""
    figure = Figure(figsize=SIZE, facecolor=PAPER)
    words = draw(figure.subplots(1, panels, squeeze=False)[0], *values)
    figure.tight_layout()
    return figure, words


def stills(draw: Draw, choices: Choices, panels: int, shown: Sequence[Sequence[int]] = ()) -> tuple[str, str]:
    """Return three frames side by side as a PNG in base64, and their words; between them every control moves.

    Args:
        draw: draws one frame.
        choices: the values of each control.
        panels: how many panels a frame has.
        shown: which value of each control each frame shows; otherwise they lie evenly apart.
    """
    figure = new_figure(WIDEST, STILL_HEIGHTS[panels])
    words = []
    for k, column in enumerate(figure.subplots(panels, 3, squeeze=False).T):
        chosen = [
            list(named.items())[shown[k][n] if shown else (2 * k + 1) * len(named) // 6]
            for n, named in enumerate(choices.values())
        ]
        words.append(draw(column, *(value for _, value in chosen)))
        title = ", ".join(f"{name}: {text}" for name, (text, _) in zip(choices, chosen, strict=True))
        column[0].set_title(title, fontsize=9)
        for axes in column if k else ():  # what is at the left of the first column holds for all
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
    return png(figure), " ".join(words)


def all_frames(draw: Draw, choices: Choices, panels: int, start: Sequence[int]) -> dict[str, Any] | None:
    """Return every frame where the lesson is being built, and nothing where a reader runs it: they take seconds.

    The frames are one lossless WebP, in which equal parts of them cost next to nothing. They lie below each other in
    the order of the last control's values, with a column for each combination of the others'.

    Args:
        draw: draws one frame.
        choices: the values of each control.
        panels: how many panels a frame has.
        start: which value of each control comes first.
    """
    if os.environ.get("LESSONS_FRAMES") != "all":
        return None
    every = list(product(*(named.values() for named in choices.values())))
    drawn = [pixels(*frame(draw, values, panels)) for values in every]
    rows = len(list(choices.values())[-1])
    columns = [numpy.concatenate([image for image, _ in drawn[i : i + rows]]) for i in range(0, len(drawn), rows)]
    buffer = io.BytesIO()
    imsave(buffer, numpy.concatenate(columns, axis=1), format="webp", pil_kwargs={"lossless": True, "method": 6})
    return {
        "webp": base64.b64encode(buffer.getvalue()).decode(),
        "controls": [
            {"name": name, "labels": list(named), "start": first}
            for (name, named), first in zip(choices.items(), start, strict=True)
        ],
        "words": [words for _, words in drawn],
    }


def pixels(figure: Figure, words: str) -> tuple[Any, str]:
    """Return a figure as an array `(height, width, 3)` of bytes, and its words unchanged."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="rgba", dpi=DPI)
    width, height = (round(inches * DPI) for inches in SIZE)
    return numpy.frombuffer(buffer.getvalue(), numpy.uint8).reshape(height, width, 4)[..., :3], words
