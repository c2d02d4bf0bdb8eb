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
from matplotlib.patches import Circle
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
    draw_matrix,
    favorites,
    label,
    name_sides,
    png,
    show_data,
)
from .frames import DPI, Choices, Draw, all_frames, frame, stills

MOST_FRAMES = 100  # where no kernel runs
NEARLY_EQUAL = 0.97  # the cosine of two arrows of which one would hide the other
CLOSE = 0.9  # that of two arrows whose names would overlap
ASIDE = 0.1  # how far a query is moved that would hide a key, in its own lengths
STEEP = 0.7  # the height on a circle from which names lie above or below it
BEYOND, LINE = 4, 13  # points from the circle to a name, and from one name to another
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
        draw_bars(panels[-1], weights, keys, quantity)
        return f"{name} {value:.3g}: the {quantity} is {favorites(weights, keys)}."

    values = [low + i * step for i in range(round((high - low) / step) + 1)]
    numbers = [2.0**value for value in values] if doubling else values
    choices = {name: {f"{number:.3g}": number for number in numbers}}
    first, stills_of, panels = [round((start - low) / step)], [numbers.index(n) for n in shown], 2 if arrows else 1
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


def explore(weights: Tensor, tokens: Sequence[str], *, names: Sequence[str] = ()) -> None:
    """Show one query's weights in one head, both of which can be chosen.

    Args:
        weights: `(H, L, L)`, from a model.
        tokens: `L` labels; where they are not all different, the control adds their places.
        names: of the heads; their numbers without it.
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
        panels[0].axhline(row, color=PAPER, linestyle=":", linewidth=2)
        label(panels[0], tokens, tokens)
        panels[0].tick_params(labelsize=8, length=2)
        draw_bars(panels[1], chosen[row], tokens)
        named = list(places)
        return f"{options[chosen_head][0].capitalize()}, query {named[row]}: {favorites(chosen[row], named)}."

    every = -(-weights.shape[0] * weights.shape[1] // MOST_FRAMES)  # of so many queries one has frames
    queries = {name: i for name, i in places.items() if i % every == 0}
    choices = {"head": heads, "query": queries}
    moving([head, query], lambda: (head.value, query.value), draw, choices, [0, 0], panels=2)


def moving(
    controls: Sequence[Any],
    read: Callable[[], tuple[Any, ...]],
    draw: Draw,
    choices: Choices,
    start: Sequence[int],
    *,
    panels: int = 1,
    shown: ipywidgets.Widget | None = None,
    stills_of: Sequence[int] = (),
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
        stills_of: which values are drawn side by side where nothing moves.
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


def draw_bars(axes: Axes, weights: Tensor, keys: Sequence[str], quantity: str = "weight") -> None:
    """Draw one bar per key with its number. Of many keys, the one that has most is named above its bar."""
    heights = weights.tolist()
    bars = axes.bar(range(len(keys)), heights, color=BAR)
    if len(keys) > NUMBERED:
        most = heights.index(max(heights))
        names = [f"{key}\n{heights[most]:.2f}" if k == most else "" for k, key in enumerate(keys)]
    else:
        names = [f"{height:.2f}" if height >= 0.05 or len(keys) < 6 else "" for height in heights]
    axes.bar_label(bars, names, fontsize=9)
    step = -(-len(keys) * (1 + 2 * max(map(len, keys))) // MOST_CHARACTERS)
    axes.set_xticks(range(0, len(keys), step), keys[::step], fontsize=8)
    axes.set(ylim=(0, 1.25 if len(keys) > NUMBERED else 1.12), yticks=(0, 0.5, 1), ylabel=quantity)


def draw_arrows(axes: Axes, query: Tensor, keys: Tensor, names: Sequence[str]) -> None:
    """Draw a query and keys in a circle, each named outside it. A query that would hide a key lies beside it."""
    reach = float(torch.cat([keys, query[None]]).norm(dim=-1).max())
    axes.add_patch(Circle((0, 0), reach, fill=False, edgecolor=EDGE, linewidth=0.8))
    for key, name in zip(keys, names, strict=True):
        tip = reach * torch.nn.functional.normalize(key, dim=0)
        axes.plot(*zip(key.tolist(), tip.tolist(), strict=True), ":", color=KEY, linewidth=1.8)
        draw_arrow(axes, key, KEY)
        name_outside(axes, tip, name, INK)
    likeness = torch.nn.functional.cosine_similarity(keys, query[None])
    near, (x, y) = keys[int(likeness.argmax())], query.tolist()
    hides, close = (bool(likeness.max() > bound) for bound in (NEARLY_EQUAL, CLOSE))
    draw_arrow(axes, query, QUERY, (-ASIDE * y, ASIDE * x) if hides else (0.0, 0.0))
    higher = 1 if y / query.norm() > near[1] / near.norm() + 0.01 else -1
    away = (x / reach, y / reach) if abs(y) > STEEP * reach else (0, higher)  # from the name of a key nearby
    further = (LINE * away[0], LINE * away[1]) if close else (0, 0)
    name_outside(axes, query, "query", QUERY, further)
    axes.set(xlim=(-1.8 * reach, 1.8 * reach), ylim=(-1.2 * reach, 1.8 * reach), aspect="equal")
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def draw_arrow(axes: Axes, tip: Tensor, color: str, start: tuple[float, float] = (0.0, 0.0)) -> None:
    """Draw a vector of the plane, from the origin or from another point."""
    end = (float(tip[0]) + start[0], float(tip[1]) + start[1])
    look = {"arrowstyle": "-|>", "lw": 2.5, "mutation_scale": 14, "color": color, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)


def name_outside(axes: Axes, point: Tensor, name: str, color: str, further: tuple[float, float] = (0.0, 0.0)) -> None:
    """Write a name beyond a point of a circle, and further away by some points, across and up."""
    x, y = torch.nn.functional.normalize(point, dim=0).tolist()
    steep = abs(y) >= STEEP
    offset = (BEYOND * x + further[0], BEYOND * y + further[1])
    side = "center" if abs(x) < 0.3 else "left" if x > 0 else "right"
    end = "center" if not steep else "bottom" if y > 0 else "top"
    look: dict[str, Any] = {"ha": side, "va": end, "fontsize": 10, "color": color}
    text = axes.annotate(name, (float(point[0]), float(point[1])), offset, textcoords="offset points", **look)
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
