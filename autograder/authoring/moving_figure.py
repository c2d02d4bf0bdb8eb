"""A figure that moves without a kernel: one picture of all frames, and sliders that choose the one to be seen.

The frames come from `plot.frames`; what moves them is website/static/lessons.js. Until that runs, the figure is hidden.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

FIGURE = """<figure class="moving" data-words="{words}" hidden>
<div class="frame"><img src="data:image/webp;base64,{webp}" alt=""></div>
{sliders}
<p role="status"></p>
</figure>"""
SLIDER = (
    '<label>{name} <input type="range" max="{last}" value="{start}" data-labels="{labels}"><output></output></label>'
)


def moving_figure(frames: Mapping[str, Any]) -> str:
    """Return the HTML of one figure.

    Args:
        frames: as in an output's metadata: `webp`, `controls` and `words`.
    """
    sliders = "\n".join(map(slider, frames["controls"]))
    return FIGURE.format(words=attribute(frames["words"]), webp=frames["webp"], sliders=sliders)


def slider(control: Mapping[str, Any]) -> str:
    """Return the HTML of one slider, whose positions are counted from 0."""
    name, labels = escape(control["name"]), control["labels"]
    return SLIDER.format(name=name, last=len(labels) - 1, start=control["start"], labels=attribute(labels))


def attribute(value: Any) -> str:
    """Return a value as JSON that can stand between quotes."""
    return escape(json.dumps(value, ensure_ascii=False))
