"""Figures that move: a slider, a mask to click, heads to choose. A static figure beside each makes the same point.

ipywidgets and matplotlib only. Every frame carries its own alternative text, which is also shown under it, so nothing
is told by the picture alone. Without a live kernel the page shows one sentence in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from .drawing import BAR, NUMBERED, PAPER, WEIGHTS, draw_matrix, favorites, label, png, show_data

DPI = 90
WIDE = ipywidgets.Layout(width="95%", max_width="560px")


def slide(
    weights_of: Callable[[float], Tensor],
    keys: Sequence[str],
    *,
    name: str,
    low: float,
    high: float,
    start: float,
    step: float = 1.0,
    doubling: bool = False,
    arrows: Callable[[float], tuple[Tensor, Tensor]] | None = None,
) -> None:
    """Show weights as bars that follow a slider.

    Args:
        weights_of: from the slider's number to `(S,)` weights.
        keys: `S` labels.
        name: what the slider sets.
        low: its smallest number; with `doubling` the exponent of 2.
        high: its largest.
        start: its first position.
        step: how far one key press moves it.
        doubling: each step doubles.
        arrows: from the same number to a query `(2,)` and keys `(S, 2)`, drawn beside the bars.
    """
    layout = {"layout": WIDE, "style": {"description_width": "initial"}, "description": name}
    kind = ipywidgets.FloatLogSlider if doubling else ipywidgets.FloatSlider
    base = {"base": 2} if doubling else {}
    slider = kind(
        value=2.0**start if doubling else start, min=low, max=high, step=step, readout_format="g", **base, **layout
    )

    def draw(figure: Figure) -> str:
        weights = weights_of(slider.value).detach()
        panels = figure.subplots(1, 2 if arrows else 1, squeeze=False)[0]
        if arrows:
            draw_arrows(panels[0], *arrows(slider.value), keys)
        draw_bars(panels[-1], weights, keys)
        return f"{name} {slider.value:g}: the weight is {favorites(weights, keys)}."

    moving([slider], draw, name)


def click_mask(weights_of: Callable[[Tensor], Tensor], tokens: Sequence[str]) -> None:
    """Show which keys each query may look at as buttons, and the weights that follow from them.

    Args:
        weights_of: from a boolean mask `(L, L)`, True where a query may look, to weights `(L, L)`.
        tokens: `L` labels.
    """
    size = len(tokens)
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    buttons = [[button(bool(causal[i, j]), q, k) for j, k in enumerate(tokens)] for i, q in enumerate(tokens)]

    def draw(figure: Figure) -> str:
        mask = torch.tensor([[b.value for b in row] for row in buttons])
        weights = weights_of(mask)
        axes = figure.subplots()
        draw_matrix(axes, weights, "weights", mask)
        label(axes, tokens, tokens)
        axes.set_xlabel("keys")
        axes.set_ylabel("queries")
        rows = zip(tokens, weights, mask, strict=True)
        return "; ".join(f"{q} {describe_row(row, seen, tokens)}" for q, row, seen in rows) + "."

    rows = [ipywidgets.HBox([caption(q), *row]) for q, row in zip(tokens, buttons, strict=True)]
    head = ipywidgets.HBox([caption("may look at"), *map(caption, tokens)])
    moving([b for row in buttons for b in row], draw, "mask", ipywidgets.VBox([head, *rows]))


def describe_row(row: Tensor, seen: Tensor, tokens: Sequence[str]) -> str:
    """Say where one query looks."""
    if not seen.any():
        return f"may look at nothing, its weights are {float(row[0]):g}"
    return favorites(row, tokens)


def explore(weights: Tensor, tokens: Sequence[str]) -> None:
    """Show one query's weights in one head, both of which can be chosen.

    Args:
        weights: `(H, L, L)`, from a model.
        tokens: `L` labels.
    """
    layout = {"layout": WIDE, "style": {"description_width": "initial"}}
    names = [(f"head {h}", h) for h in range(len(weights))]
    head = ipywidgets.Dropdown(options=names, value=0, description="head", **layout)
    query = ipywidgets.SelectionSlider(options=list(zip(tokens, range(len(tokens)), strict=True)), value=0, **layout)
    query.description = "query"

    def draw(figure: Figure) -> str:
        panels = figure.subplots(1, 2)
        chosen = weights[head.value].detach()
        panels[0].imshow(chosen.numpy(), **WEIGHTS)
        panels[0].axhline(query.value, color=PAPER, linestyle=":", linewidth=2)
        label(panels[0], tokens, tokens)
        panels[0].tick_params(labelsize=8)
        draw_bars(panels[1], chosen[query.value], tokens)
        return f"Head {head.value}, query {tokens[query.value]}: {favorites(chosen[query.value], tokens)}."

    moving([head, query], draw, "heads")


def moving(
    controls: Sequence[Any], draw: Callable[[Figure], str], name: str, shown: ipywidgets.Widget | None = None
) -> None:
    """Draw a frame at once and after each change of a control."""
    picture = ipywidgets.HTML()

    def frame(_change: object = None) -> None:
        picture.value = frame_html(draw)

    for control in controls:
        control.observe(frame, names="value")
    frame()
    box = ipywidgets.VBox([shown] if shown else list(controls))
    view = dict(ipywidgets.VBox([box, picture])._repr_mimebundle_() or {})
    view["text/plain"] = f"Here a figure moves with the {name}, where a kernel runs."
    show_data(view)


def frame_html(draw: Callable[[Figure], str]) -> str:
    """Return one frame: the picture and its words."""
    figure = Figure(figsize=(6.4, 2.7))
    words = escape(draw(figure), quote=True)
    figure.tight_layout()
    return f'<img src="data:image/png;base64,{png(figure, DPI)}" alt="{words}"><p role="status">{words}</p>'


def draw_bars(axes: Axes, weights: Tensor, keys: Sequence[str]) -> None:
    """Draw one bar per key with its number."""
    bars = axes.bar(range(len(keys)), weights.tolist(), color=BAR)
    if len(keys) <= NUMBERED:
        axes.bar_label(bars, fmt="%.2f", fontsize=9)
    axes.set_xticks(range(len(keys)), keys, fontsize=8)
    axes.set_ylim(0, 1.12)
    axes.set_ylabel("weight")


def draw_arrows(axes: Axes, query: Tensor, keys: Tensor, names: Sequence[str]) -> None:
    """Draw a query and keys from the origin, each with its name a little beyond its tip."""
    for point, text in zip([*keys, query], [*names, "query"], strict=True):
        mine = text == "query"
        look = {"arrowstyle": "-|>" if mine else "->", "color": BAR if mine else "#7c7b78", "lw": 2.5 if mine else 1.5}
        axes.annotate("", (float(point[0]), float(point[1])), (0, 0), arrowprops=look)
        beyond = point + 0.3 * torch.nn.functional.normalize(point, dim=0)
        axes.text(float(beyond[0]), float(beyond[1]), text, ha="center", va="center", fontsize=9)
    reach = 1.3 * float(torch.cat([keys, query[None]]).norm(dim=-1).max())
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])


def button(pressed: bool, query: str, key: str) -> ipywidgets.ToggleButton:
    """Return one cell of the mask, which says by its sign whether the query may look."""
    button = ipywidgets.ToggleButton(value=pressed, tooltip=f"{query} may look at {key}", layout={"width": "64px"})

    def say(_change: object = None) -> None:
        button.description = "✓" if button.value else "✗"

    button.observe(say, names="value")
    say()
    return button


def caption(text: str) -> ipywidgets.Label:
    """Return a label as wide as a button."""
    return ipywidgets.Label(text, layout={"width": "64px"})
