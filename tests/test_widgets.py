"""Figures that move: each frame is another picture with words of its own."""

import base64
import io
import re

import ipywidgets
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.image import imread

from autograder import plot
from autograder.plot import widgets

SCORES = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


def masked(mask: torch.Tensor) -> torch.Tensor:
    return SCORES.masked_fill(~mask, -torch.inf).softmax(-1)


@pytest.fixture
def shown(monkeypatch) -> list[ipywidgets.Widget]:
    """What was displayed, as widgets."""
    boxes = []
    real = widgets.ipywidgets.VBox

    def box(children=(), **options):
        boxes.append(real(children, **options))
        return boxes[-1]

    monkeypatch.setattr(widgets.ipywidgets, "VBox", box)
    return boxes


def words(box: ipywidgets.Widget) -> str:
    picture = box.children[1]
    found = re.search(r'alt="([^"]*)"', picture.value)
    assert found
    assert f">{found[1]}</p>" in picture.value
    return found[1]


def controls(box: ipywidgets.Widget, kind: type) -> list[ipywidgets.Widget]:
    inside = [*getattr(box, "children", ())]
    return [w for w in inside if isinstance(w, kind)] + [w for inner in inside for w in controls(inner, kind)]


def test_bars_follow_a_slider(shown) -> None:
    plot.slide(
        lambda t: (SCORES[0] / t).softmax(-1),
        ["a", "b", "c"],
        name="temperature",
        low=-4,
        high=5,
        start=0,
        doubling=True,
    )
    (slider,) = controls(shown[-1], ipywidgets.FloatLogSlider)
    first = words(shown[-1])
    assert first == "temperature 1: the weight is most on c (0.67)."
    before = shown[-1].children[1].value
    slider.value = 0.0625
    assert words(shown[-1]) == "temperature 0.0625: the weight is most on c (1.00)."
    assert shown[-1].children[1].value != before


def test_arrows_are_drawn_beside_the_bars(shown) -> None:
    plot.slide(
        lambda x: torch.tensor([x, 1 - x]),
        ["a", "b"],
        name="x",
        low=0,
        high=1,
        start=0.5,
        arrows=lambda x: (torch.tensor([x, 1.0]), torch.eye(2)),
    )
    assert words(shown[-1]) == "x 0.5: the weight is equally on all (0.50)."


def test_a_click_hides_a_key_and_an_empty_row_is_said(shown) -> None:
    plot.click_mask(masked, ["a", "b", "c"])
    buttons = controls(shown[-1], ipywidgets.ToggleButton)
    assert [b.description for b in buttons] == list("✓✗✗✓✓✗✓✓✓")
    assert words(shown[-1]).startswith("a most on a (1.00); b most on b (0.73)")
    buttons[0].value = False
    assert buttons[0].description == "✗"
    assert words(shown[-1]).startswith("a may look at nothing, its weights are nan; b most on b")


def test_heads_and_queries_can_be_chosen(shown) -> None:
    weights = torch.stack([torch.eye(3), torch.eye(3).flip(0)])
    plot.explore(weights, ["x", "y", "z"])
    (head,) = controls(shown[-1], ipywidgets.Dropdown)
    (query,) = controls(shown[-1], ipywidgets.SelectionSlider)
    assert words(shown[-1]) == "Head 0, query x: most on x (1.00)."
    head.value, query.value = 1, 1
    assert words(shown[-1]) == "Head 1, query y: most on y (1.00)."
    head.value, query.value = 1, 0
    assert words(shown[-1]) == "Head 1, query x: most on z (1.00)."


@pytest.fixture
def outputs(monkeypatch) -> list[tuple[dict, dict]]:
    """What was displayed, as the data and the metadata of an output."""
    kept: list[tuple[dict, dict]] = []
    monkeypatch.setattr(widgets, "show_data", lambda *output: kept.append(output))
    return kept


def window() -> None:
    plot.slide(lambda w: (2 - torch.arange(3) < w) / w, ["a", "b", "c"], name="window", low=1, high=3, start=2)


def test_without_a_kernel_three_frames_stand_there(outputs) -> None:
    window()
    data, metadata = outputs[0]
    assert data["text/plain"] == "A figure with a control: window. Here are three of its frames."
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    alt = metadata["image/png"]["alt"]
    assert [f"window {n}: the weight is" in alt for n in (1, 2, 3)] == [True] * 3


def test_heads_and_queries_can_be_chosen_for_where_nothing_moves(outputs) -> None:
    plot.explore(torch.eye(3).expand(2, 3, 3), ["x", "y", "z"], shown=[("1", 2), ("0", 2), ("1", 0)])
    alt = outputs[0][1]["image/png"]["alt"]
    assert alt.startswith("Head 1, query z: most on z (1.00). Head 0, query z: ")


def test_a_reader_does_not_wait_for_frames_that_nobody_sees(outputs) -> None:
    window()
    assert "frames" not in outputs[0][1]["image/png"]


def test_a_build_keeps_every_frame_and_the_same_bytes_each_time(outputs, monkeypatch) -> None:
    monkeypatch.setenv("LESSONS_FRAMES", "all")
    window()
    window()
    (_, first), (_, second) = outputs
    assert first == second
    frames = first["image/png"]["frames"]
    assert frames["controls"] == [{"name": "window", "labels": ["1", "2", "3"], "start": 1}]
    assert frames["words"][0] == "window 1: the weight is most on c (1.00)."
    assert size(frames["webp"]) == (576, 3 * 243)


def test_two_controls_give_a_column_for_each_value_of_the_first(outputs, monkeypatch) -> None:
    monkeypatch.setenv("LESSONS_FRAMES", "all")
    plot.explore(torch.eye(3).expand(2, 3, 3), ["x", "y", "z"])
    frames = outputs[0][1]["image/png"]["frames"]
    assert frames["words"][3] == "Head 1, query x: most on x (1.00)."
    assert size(frames["webp"]) == (2 * 576, 3 * 243)


def test_a_mask_has_frames_that_hide_key_after_key(outputs, monkeypatch) -> None:
    monkeypatch.setenv("LESSONS_FRAMES", "all")
    plot.click_mask(masked, ["a", "b", "c"])
    frames = outputs[0][1]["image/png"]["frames"]
    assert frames["controls"] == [
        {"name": "hidden from b", "labels": ["0 of 2 keys", "1 of 2 keys", "2 of 2 keys"], "start": 0}
    ]
    assert "b may look at nothing, its weights are nan" in frames["words"][2]


def size(webp: str) -> tuple[int, ...]:
    """Return the width and the height of a picture in base64."""
    return imread(io.BytesIO(base64.b64decode(webp)), format="webp").shape[1::-1]


def test_in_plain_python_a_figure_is_its_text(monkeypatch, capsys) -> None:
    monkeypatch.setattr(InteractiveShell, "initialized", lambda: False)
    plot.heatmap(torch.eye(2), ["a", "b"], ["a", "b"], "each row sums to 1")
    printed = capsys.readouterr().out
    assert printed == "each row sums to 1. Attention weights, row by row: a most on a (1.00); b most on b (1.00).\n"
