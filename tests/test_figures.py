"""Shared figures: colors that mean something without color, too, and nothing said twice."""

from importlib import import_module
from itertools import combinations

import pytest
import torch
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from autograder import plot
from autograder.plot.drawing import KEY, QUERY, VALUE
from autograder.plot.widgets import draw_arrows

GRAY = torch.tensor([0.299, 0.587, 0.114])


@pytest.fixture
def drawn(monkeypatch) -> list[Figure]:
    """The figures that were shown."""
    figures: list[Figure] = []
    for name in ("matrices", "diagrams"):
        module = import_module(f"autograder.plot.{name}")  # the package has functions of such names
        monkeypatch.setattr(module, "show", lambda figure, _alt: figures.append(figure))
    return figures


def test_queries_keys_and_values_are_told_apart_in_gray() -> None:
    grays = [float(torch.tensor(to_rgb(color)) @ GRAY) for color in (QUERY, VALUE, KEY)]
    assert min(abs(one - other) for one, other in combinations(grays, 2)) > 0.1


@pytest.mark.parametrize(("size", "bars", "numbers"), [(8, 0, 64), (9, 1, 9)])
def test_a_map_has_all_its_numbers_or_a_color_bar_and_the_large_ones(drawn, size: int, bars: int, numbers: int) -> None:
    names = [str(i) for i in range(size)]
    plot.heatmap(torch.eye(size), names, names, "Each place looks at itself")
    axes, *others = drawn[0].axes
    assert (len(others), len(axes.texts) - (not bars)) == (bars, numbers)  # a small map says at its side what it holds


@pytest.mark.parametrize(("row", "written"), [([1.0, 0.0], ["1", "0"]), ([1.0, 0.5], ["1.00", "0.50"])])
def test_the_numbers_of_a_map_are_written_in_one_form(drawn, row: list[float], written: list[str]) -> None:
    plot.heatmap(torch.tensor([row]), ["q"], ["a", "b"], "One row", kind="shares")
    assert [text.get_text() for text in drawn[0].axes[0].texts][:2] == written


@pytest.mark.parametrize("angle", range(0, 360, 15))
def test_names_of_arrows_do_not_overlap(angle: int) -> None:
    turn = torch.tensor([angle, 0.0, 90, 210]).deg2rad()
    query, *keys = torch.stack([turn.cos(), turn.sin()], dim=-1)
    figure = Figure(figsize=(3.2, 3))
    draw_arrows(figure.subplots(), 2 * query, torch.stack(keys), ["key 1", "key 2", "key 3"])
    FigureCanvasAgg(figure).draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts if text.get_text()]
    assert len(boxes) == 5  # the keys' names and two for the colors
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_a_query_is_seen_where_it_points_at_a_key() -> None:
    axes = Figure().subplots()
    draw_arrows(axes, torch.tensor([1.0, 0.0]), torch.eye(2), ["a", "b"])
    query, *keys = [text for text in axes.texts if not text.get_text()]
    assert {one.xyann for one in (query, *keys)} == {(0, 0)}
    assert query.xy[0] > 1.2
    assert query.arrow_patch.get_linewidth() > 1.5 * keys[0].arrow_patch.get_linewidth()


def test_names_of_lines_that_end_together_lead_to_that_end(drawn) -> None:
    ends = {"a": [1.0, 0.0], "b": [2.0, 0.0]}
    plot.curves([0, 1], ends, "Both end at 0", xlabel="step", ylabel="loss", from_zero=True)
    FigureCanvasAgg(drawn[0]).draw()
    one, other = drawn[0].axes[0].texts
    assert [name.xy for name in (one, other) if name.arrow_patch] == [(1, 0.0), (1, 0.0)]
    assert not Text.get_window_extent(one).overlaps(Text.get_window_extent(other))


def test_what_a_mask_allows_has_a_mark_and_a_color_that_no_weight_has(drawn) -> None:
    plot.masks([("causal", torch.ones(3, 3, dtype=torch.bool).tril())], "A staircase")
    axes = drawn[0].axes[0]
    assert [text.get_text() for text in axes.texts] == ["✓"] * 6
    weights = colormaps["cividis"](torch.linspace(0, 1, 256).numpy())
    assert abs(weights - axes.images[0].cmap(0)).max(axis=1).min() > 0.2


def test_a_long_name_stays_inside_its_figure(drawn) -> None:
    plot.diagram({"a name of thirty-three characters": (0, 0), "b": (1, -1)}, [], "Two", alt="")
    FigureCanvasAgg(drawn[0]).draw()
    box = drawn[0].axes[0].texts[0].get_bbox_patch().get_window_extent()
    assert 0 <= box.x0 <= box.x1 <= drawn[0].bbox.width
