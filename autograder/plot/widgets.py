"""Figures that move: a slider, a mask to click, heads to choose. A static figure beside each makes the same point.

ipywidgets and matplotlib only. Every frame carries its own alternative text, which is also shown under it, so nothing
is told by the picture alone. Without a live kernel three frames stand in its place, and the website shows all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Rectangle
from torch import Tensor

from .drawing import (
    BAR,
    EDGE,
    INK,
    KEY,
    NUMBERED,
    PAPER,
    QUERY,
    WEIGHTS,
    arrow,
    chip,
    draw_matrix,
    favorites,
    label,
    name_sides,
    png,
    show_data,
)
from .frames import DPI, Choices, Draw, all_frames, frame, stills

MOST_FRAMES = 100  # where no kernel runs
LONGER = 1.3  # than the keys a query is drawn at least
STEEP = 0.7  # the height on a circle from which names lie above or below it
BEYOND = 4  # points from the circle to a name
MOST_CHARACTERS = 65  # halves of them, along an axis
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
    shown: Sequence[float] = (),
    quantity: str = "weight",
    across: str = "",
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
        shown: three of its numbers, which are shown where nothing moves.
        quantity: what a bar's height is called.
        across: what the keys are, where their labels do not say it.
    """
    layout = {"layout": WIDE, "style": {"description_width": "initial"}, "description": name}
    widget = ipywidgets.FloatLogSlider if doubling else ipywidgets.FloatSlider
    base = {"base": 2} if doubling else {}
    slider = widget(
        value=2.0**start if doubling else start, min=low, max=high, step=step, readout_format="g", **base, **layout
    )

    def draw(panels: Sequence[Axes], value: float) -> str:
        weights = weights_of(value).detach()
        if arrows:
            draw_arrows(panels[0], *arrows(value), keys)
        draw_bars(panels[-1], weights, keys, quantity, across)
        return f"{name} {value:.3g}: the {quantity} is {favorites(weights, keys)}."

    values = [low + i * step for i in range(round((high - low) / step) + 1)]
    numbers = [2.0**value for value in values] if doubling else values
    choices = {name: {f"{number:.3g}": number for number in numbers}}
    first, stills_of, panels = [round((start - low) / step)], [[numbers.index(n)] for n in shown], 2 if arrows else 1
    moving([slider], lambda: (slider.value,), draw, choices, first, panels=panels, stills_of=stills_of)


def click_mask(weights_of: Callable[[Tensor], Tensor], tokens: Sequence[str]) -> None:
    """Show which keys each query may look at as buttons, and the weights that follow from them.

    Args:
        weights_of: from a boolean mask `(L, L)`, True where a query may look, to weights `(L, L)`.
        tokens: `L` labels.
    """
    size = len(tokens)
    causal = torch.ones(size, size, dtype=torch.bool).tril()
    buttons = [[button(bool(causal[i, j]), q, k) for j, k in enumerate(tokens)] for i, q in enumerate(tokens)]

    def draw(panels: Sequence[Axes], mask: Tensor) -> str:
        weights = weights_of(mask)
        draw_matrix(panels[0], weights, "weights", mask)
        label(panels[0], tokens, tokens)
        name_sides(panels[0], "queries", "keys")
        rows = zip(tokens, weights, mask, strict=True)
        return "; ".join(f"{q} {describe_row(row, seen, tokens)}" for q, row, seen in rows) + "."

    def read() -> tuple[Tensor]:
        return (torch.tensor([[b.value for b in row] for row in buttons]),)

    middle, choices = size // 2, {}
    for n in range(middle + 2):
        mask = causal.clone()
        mask[middle, :n] = False
        choices[f"{n} of {middle + 1} keys"] = mask
    rows = [ipywidgets.HBox([caption(q), *row]) for q, row in zip(tokens, buttons, strict=True)]
    head = ipywidgets.HBox([caption("may look at"), *map(caption, tokens)])
    controls = [b for row in buttons for b in row]
    moving(controls, read, draw, {f"hidden from {tokens[middle]}": choices}, [0], shown=ipywidgets.VBox([head, *rows]))


def describe_row(row: Tensor, seen: Tensor, tokens: Sequence[str]) -> str:
    """Say where one query looks."""
    if not seen.any():
        return f"may look at nothing, its weights are {float(row[0]):g}"
    return favorites(row, tokens)


def explore(
    weights: Tensor, tokens: Sequence[str], *, names: Sequence[str] = (), shown: Sequence[tuple[str, int]] = ()
) -> None:
    """Show one query's weights in one head, both of which can be chosen.

    Args:
        weights: `(H, L, L)`, from a model.
        tokens: `L` labels; where they are not all different, the control adds their places.
        names: of the heads; their numbers without it.
        shown: three pairs of a head's name and a query's place, which are shown where nothing moves.
    """
    layout = {"layout": WIDE, "style": {"description_width": "initial"}}
    heads = {name: h for h, name in enumerate(names or map(str, range(len(weights))))}
    options = [(f"head {name}", h) for name, h in heads.items()]
    head = ipywidgets.Dropdown(options=options, value=0, description="head", **layout)
    unique = len(set(tokens)) == len(tokens)
    places = {token if unique else f"“{token}”, place {i}": i for i, token in enumerate(tokens)}
    query = ipywidgets.SelectionSlider(options=list(places.items()), value=0, description="query", **layout)

    def draw(panels: Sequence[Axes], chosen_head: int, row: int) -> str:
        chosen = weights[chosen_head].detach()
        panels[0].imshow(chosen.numpy(), **WEIGHTS)
        panels[0].add_patch(
            Rectangle((-0.5, row - 0.5), len(tokens), 1, fill=False, edgecolor=PAPER, lw=2, clip_on=False)
        )
        aside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
        panels[0].annotate("◀", (1, row), (3, 0), color=QUERY, **aside)
        label(panels[0], tokens, tokens)
        panels[0].tick_params(labelsize=10 if max(map(len, tokens)) == 1 else 8, length=2)
        name_sides(panels[0], "queries", "")
        draw_bars(panels[1], chosen[row], tokens, "weight", "keys")
        named = list(places)
        return f"{options[chosen_head][0].capitalize()}, query {named[row]}: {favorites(chosen[row], named)}."

    every = -(-weights.shape[0] * weights.shape[1] // MOST_FRAMES)  # of so many queries one has frames
    queries = {name: i for name, i in places.items() if i % every == 0}
    choices = {"head": heads, "query": queries}
    stills_of = [[heads[name], [*queries.values()].index(place)] for name, place in shown]
    moving([head, query], lambda: (head.value, query.value), draw, choices, [0, 0], panels=2, stills_of=stills_of)


def moving(
    controls: Sequence[Any],
    read: Callable[[], tuple[Any, ...]],
    draw: Draw,
    choices: Choices,
    start: Sequence[int],
    *,
    panels: int = 1,
    shown: ipywidgets.Widget | None = None,
    stills_of: Sequence[Sequence[int]] = (),
) -> None:
    """Draw a frame at once and after each change of a control.

    Args:
        controls: the widgets that choose a frame.
        read: returns what they have chosen.
        draw: draws it.
        choices: what can be chosen where no kernel runs.
        start: which of it is chosen at first.
        panels: how many panels a frame has.
        shown: what holds the controls, if they do not just follow each other.
        stills_of: which value of each control is drawn, in each of the three frames where nothing moves.
    """
    picture = ipywidgets.HTML()

    def update(_change: object = None) -> None:
        figure, words = frame(draw, read(), panels)
        text = escape(words, quote=True)
        picture.value = f'<img src="data:image/png;base64,{png(figure, DPI)}" alt="{text}"><p role="status">{text}</p>'

    for control in controls:
        control.observe(update, names="value")
    update()
    box = ipywidgets.VBox([shown] if shown else list(controls))
    view = dict(ipywidgets.VBox([box, picture])._repr_mimebundle_() or {})
    view["image/png"], alt = stills(draw, choices, panels, stills_of)
    view["text/plain"] = f"A figure with a control: {', '.join(choices)}. Here are three of its frames."
    frames = all_frames(draw, choices, panels, start)
    show_data(view, {"image/png": {"alt": alt} | ({"frames": frames} if frames else {})})


def draw_bars(axes: Axes, weights: Tensor, keys: Sequence[str], quantity: str, across: str) -> None:
    """Draw one bar per key with its number. Of many keys, only the one that has most gets its number.

    Args:
        axes: to draw in.
        weights: `(S,)`.
        keys: `S` labels, of which those that have room are written below.
        quantity: what a bar's height is called.
        across: what the keys are, where their labels do not say it.
    """
    heights = weights.tolist()
    bars = axes.bar(range(len(keys)), heights, color=BAR)
    step = -(-len(keys) * (1 + 2 * max(map(len, keys))) // MOST_CHARACTERS)
    if len(keys) > NUMBERED:
        most = heights.index(max(heights))
        name = f"{keys[most]}: " if step > 1 else ""
        names = [f"{name}{heights[most]:.2f}" if k == most else "" for k in range(len(keys))]
    else:
        names = [f"{height:.2f}" if height >= 0.05 or len(keys) < 6 else "" for height in heights]
    axes.bar_label(bars, names, fontsize=9)
    axes.set_xticks(range(0, len(keys), step), keys[::step], fontsize=8.5)
    axes.set(ylim=(0, 1.15), yticks=(0, 0.5, 1))
    name_sides(axes, quantity, across)


def draw_arrows(axes: Axes, query: Tensor, keys: Tensor, names: Sequence[str]) -> None:
    """Draw a query and keys in a circle, each key named outside it.

    The query is drawn wide, below the keys, and longer than they are, so that neither hides the other.
    """
    reach = max(float(query.norm()), LONGER * float(keys.norm(dim=-1).max()))
    axes.add_patch(Circle((0, 0), reach, fill=False, edgecolor=EDGE, linewidth=0.8))
    tips = reach * torch.nn.functional.normalize(torch.cat([keys, query[None]]), dim=-1)
    arrow(axes, (0, 0), tips[-1].tolist(), color=QUERY, linewidth=5, mutation_scale=22)
    for key, tip, name in zip(keys.tolist(), tips[:-1].tolist(), names, strict=True):
        axes.plot(*zip(key, tip, strict=True), ":", color=KEY, linewidth=1.8)
        arrow(axes, (0, 0), key, color=KEY, linewidth=2.5, mutation_scale=14)
        name_outside(axes, tip, name, reach)
    for name, color, x in (("query", QUERY, 0.3), ("keys", KEY, 0.7)):
        axes.text(x, 0.03, name, ha="center", fontsize=10, bbox=chip(color), transform=axes.transAxes)
    axes.set(xlim=(-1.8 * reach, 1.8 * reach), ylim=(-1.75 * reach, 1.5 * reach), aspect="equal")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def name_outside(axes: Axes, point: Sequence[float], name: str, radius: float) -> None:
    """Write a name beyond a point of a circle around the origin."""
    x, y = point[0] / radius, point[1] / radius
    side = "center" if abs(x) < 0.3 else "left" if x > 0 else "right"
    end = "center" if abs(y) < STEEP else "bottom" if y > 0 else "top"
    look: dict[str, Any] = {"ha": side, "va": end, "fontsize": 10, "color": INK}
    text = axes.annotate(name, (point[0], point[1]), (BEYOND * x, BEYOND * y), textcoords="offset points", **look)
    text.set_in_layout(False)  # it may leave its axes, which are as wide as the bars below


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
