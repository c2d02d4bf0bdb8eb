"""The figure of lesson 5. The notebook beside this file imports it."""

import math
from collections.abc import Callable, Sequence

import torch
from matplotlib.axes import Axes
from torch import Tensor

from autograder.plot.drawing import (
    BAR,
    CREAM,
    arrow,
    block,
    new_figure,
    show,
)

STAGES = ("scores", "after hiding", "after softmax", "nan replaced by 0")
STEP = 4.4  # from one stage to the next, where a number is 1 wide


def there_and_back() -> None:
    """Draw what an empty row is on its way to a weight, and its gradient on the two ways back."""
    everything = torch.ones(3, dtype=torch.bool)
    forward, added = way(lambda scores: scores - torch.inf)
    _, written = way(lambda scores: scores.masked_fill(everything, -torch.inf))
    rows = {
        "the row itself": forward,
        "its gradient, if\n−∞ was added": added,
        "its gradient, if it\nwas overwritten": written,
    }
    figure = new_figure(7.5, 2.7)
    axes = figure.subplots()
    for i, tensors in enumerate(rows.values()):
        draw_row(axes, 1.8 * i, tensors, "<|-" if i else "-|>")
    for i, name in enumerate(STAGES):
        axes.text(STEP * i + 1.5, -0.3, name, ha="center", va="bottom", fontsize=9)
    axes.set(xlim=(-0.1, 3 * STEP + 3.1), ylim=(4.7, -0.9), xticks=[])
    axes.set_yticks((0.5, 2.3, 4.1), list(rows), fontsize=9)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    title = "The nan is removed on the way forward and returns on the way back"
    figure.suptitle(title, fontsize=11)
    said = [f"{name}: {', '.join(map(words, row))}" for name, row in rows.items()]
    alt = f"At {', '.join(STAGES)}, from left to right: {'; '.join(said)}."
    show(figure, f"{title}. {alt}".replace("\n", " "))


def way(hide: Callable[[Tensor], Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Return what an empty row of three scores is at each stage on its way to a weight, and the gradients there."""
    scores = torch.zeros(3, requires_grad=True)
    hidden = hide(scores)
    weights = hidden.softmax(dim=-1)
    stages = [scores, hidden, weights, weights.nan_to_num(0.0)]
    for stage in stages:
        stage.retain_grad()
    stages[-1][0].backward()  # as if the loss were the first weight
    return [stage.detach() for stage in stages], [stage.grad for stage in stages]


def draw_row(axes: Axes, y: float, tensors: Sequence[Tensor], head: str) -> None:
    """Draw three numbers per stage, those that are nan on dark, and arrows between the stages."""
    for i, numbers in enumerate(tensors):
        for j, number in enumerate(numbers.tolist()):
            color = BAR if math.isnan(number) else CREAM
            block(
                axes,
                (STEP * i + j, y),
                (1, 1),
                color,
                f"{number:g}".replace("-inf", "−∞"),
            )
        if i:
            start, end = (STEP * i - 1.3, y + 0.5), (STEP * i - 0.1, y + 0.5)
            arrow(axes, start, end, arrowstyle=head)


def words(numbers: Tensor) -> str:
    """Return numbers as they are written in the cells."""
    return " ".join(f"{number:g}" for number in numbers.tolist()).replace("-inf", "−∞")
