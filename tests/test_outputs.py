"""Outputs are rebuilt: nothing of a submission's own metadata or of unknown types reaches a page."""

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.outputs import MOST_LINES, clean_outputs

PNG = "iVBORw0KGgo="


def shown(data: dict, metadata: dict | None = None) -> dict:
    (output,) = clean_outputs([{"output_type": "display_data", "data": data, "metadata": metadata or {}}])
    return output


@pytest.mark.parametrize(
    "metadata",
    [
        {"image/png": {"width": "1 onload=alert(1)"}},
        {"filenames": {"image/png": "https://elsewhere/x.png"}},
        {"svg_filename": "https://elsewhere/x.svg"},
        {"image/png": 5},
        {"raw_mimetype": None},
    ],
)
def test_a_pictures_own_metadata_is_dropped(metadata: dict) -> None:
    assert shown({"image/png": PNG}, metadata)["metadata"] == {}


def test_a_pictures_description_is_kept_without_what_could_end_it() -> None:
    alt = 'three rows" onload="alert(1)'
    assert shown({"image/png": PNG}, {"image/png": {"alt": alt}})["metadata"]["image/png"] == {
        "alt": "three rows onload=alert(1)"
    }


@pytest.mark.parametrize(
    "data",
    [
        {"application/javascript": "alert(1)"},
        {"image/svg+xml": "<svg onload='alert(1)'/>"},
        {"application/vnd.jupyter.widget-view+json": {"version_major": 2}},
        {"image/png": '" onerror="alert(1)'},
        {"text/plain": 5},
        {"text/html": {"a": 1}},
        {"text/plain": ["a", 5]},
    ],
)
def test_unknown_types_and_odd_values_are_dropped(data: dict) -> None:
    assert shown(data)["data"] == {"text/plain": "[not shown]"}


def test_texts_and_pictures_are_kept() -> None:
    data = {"text/plain": "3", "text/html": "<b>3</b>", "image/png": PNG}
    assert shown(data)["data"] == data


def test_a_long_output_is_cut_and_says_so() -> None:
    text = "x\n" * (2 * MOST_LINES)
    streams = [{"output_type": "stream", "name": "stdout", "text": text}] * 3
    (output,) = clean_outputs(streams)
    assert output["text"].count("\n") < MOST_LINES
    assert output["text"].endswith("... Output truncated ...")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["text/plain", "text/html", "image/png", "image/svg+xml", "application/json", "transient"])


@given(st.dictionaries(KINDS, JSON, max_size=4), st.dictionaries(KINDS, JSON, max_size=4))
def test_whatever_is_displayed_makes_a_valid_notebook(data: dict, metadata: dict) -> None:
    cell = nbformat.v4.new_code_cell("x", id="x")
    cell.outputs = [nbformat.from_dict(shown(data, metadata))]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.validate(nbformat.reads(json.dumps(notebook), as_version=4))
