"""Whatever was done to a notebook, grading gets one in which every graded cell is as it needs to be."""

import copy
import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.errors import SubmissionError
from autograder.grading.package import LessonPackage
from autograder.grading.repair import repair_submission
from autograder.judging.cell_metadata import grade_id_of
from autograder.paths import find_course

from .conftest import LESSON

PACKAGE: LessonPackage = package_of(find_course().lesson(LESSON))
RIGHT = {"attend": "def attend(query, key, value):\n    return 1", "question_R2": "Because."}
Cell = dict[str, Any]
Change = Callable[[list[Cell]], object]
WITHOUT_FIXTURES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def handed_in() -> dict[str, Any]:
    return json.loads(notebook_text(submission(PACKAGE, RIGHT)))


def named(cells: list[Cell], name: str) -> Cell:
    return next(cell for cell in cells if grade_id_of(cell) == name)


def repaired(change: Change) -> list[Cell]:
    """Return the cells of a submission after somebody did something to them and they were repaired."""
    notebook = handed_in()
    change(notebook["cells"])
    return checked(repair_submission(json.dumps(notebook).encode(), PACKAGE).as_dict())["cells"]


def checked(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a repaired notebook, after seeing that it is valid and holds all that points and set-up need."""
    nbformat.validate(nbformat.from_dict(notebook))
    names = [grade_id_of(cell) for cell in notebook["cells"] if grade_id_of(cell)]
    assert len(names) == len(set(names))
    for name, released in PACKAGE.nbgrader_cells.items():
        if released.locked:
            cell = named(notebook["cells"], name)
            expected = (released.kind, released.source, released.metadata)
            assert (cell["cell_type"], cell["source"], cell["metadata"]) == expected
    return notebook


def remove(*names: str) -> Change:
    return lambda cells: [cells.remove(named(cells, name)) for name in names]


def names_in(cells: list[Cell]) -> list[str]:
    return [grade_id_of(cell) for cell in cells if grade_id_of(cell)]


def test_what_nobody_touched_stays_as_it_is() -> None:
    cells = repaired(lambda cells: None)
    assert [cell["source"] for cell in cells] == ["".join(cell["source"]) for cell in handed_in()["cells"]]
    assert names_in(cells) == list(PACKAGE.nbgrader_cells)


@pytest.mark.parametrize(
    "lost", [("setup",), ("check_attend",), ("check_project_qkv", "check_attend"), ("question_R2",)], ids=str
)
def test_a_deleted_cell_that_is_locked_or_carries_points_comes_back_in_its_place(lost: tuple[str, ...]) -> None:
    assert names_in(repaired(remove(*lost))) == list(PACKAGE.nbgrader_cells)


def test_a_deleted_exercise_stays_deleted() -> None:
    known = [name for name in PACKAGE.nbgrader_cells if name != "attend"]
    assert names_in(repaired(remove("attend"))) == known


def test_a_skipped_exercise_gets_its_check_back_after_the_one_before() -> None:
    known = [name for name in PACKAGE.nbgrader_cells if name != "attend"]
    assert names_in(repaired(remove("attend", "check_attend"))) == known


def test_a_check_comes_back_right_after_its_exercise() -> None:
    cells = repaired(remove("check_attend"))
    place = cells.index(named(cells, "attend"))
    assert grade_id_of(cells[place + 1]) == "check_attend"


def test_of_two_copies_the_last_one_counts_and_the_other_still_runs() -> None:
    def copy_cell(cells: list[Cell]) -> None:
        place = cells.index(named(cells, "attend"))
        first = {**copy.deepcopy(cells[place]), "source": "first = 1", "id": "a-copy"}
        cells.insert(place, first)

    cells = repaired(copy_cell)
    assert named(cells, "attend")["source"] == RIGHT["attend"]
    assert [grade_id_of(cell) for cell in cells if cell["source"] == "first = 1"] == [""]


def test_cells_copied_with_their_ids_get_ids_of_their_own() -> None:
    cells = repaired(lambda cells: cells.append(copy.deepcopy(named(cells, "attend"))))
    assert len({cell["id"] for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("key", "value"), [("points", 400), ("locked", False), ("grade", False), ("cell_type", "markdown"), ("task", True)]
)
def test_metadata_that_decides_points_is_put_back(key: str, value: object) -> None:
    def forge(cells: list[Cell]) -> None:
        named(cells, "check_attend")["metadata"]["nbgrader"][key] = value

    assert named(repaired(forge), "check_attend")["metadata"] == PACKAGE.nbgrader_cells["check_attend"].metadata


def test_an_exercise_turned_into_text_is_code_again() -> None:
    def turn(cells: list[Cell]) -> None:
        cell = named(cells, "attend")
        cell["cell_type"] = "markdown"
        del cell["outputs"], cell["execution_count"]

    assert named(repaired(turn), "attend")["cell_type"] == "code"


@pytest.mark.parametrize("metadata", [None, [], 7, {"nbgrader": None}, {"nbgrader": []}, {"nbgrader": {}}], ids=str)
def test_odd_metadata_of_one_cell_costs_that_cell_at_most(metadata: object) -> None:
    def spoil(cells: list[Cell]) -> None:
        named(cells, "attend")["metadata"] = metadata

    assert set(names_in(repaired(spoil))) >= set(PACKAGE.nbgrader_cells) - {"attend"}


@pytest.mark.parametrize("grade_id", [None, 3, [], {}, "unknown", "setup\n"], ids=str)
def test_an_odd_name_makes_an_ordinary_cell(grade_id: object) -> None:
    def rename(cells: list[Cell]) -> None:
        named(cells, "attend")["metadata"]["nbgrader"]["grade_id"] = grade_id

    cells = repaired(rename)
    assert [grade_id_of(cell) for cell in cells if cell["source"] == RIGHT["attend"]] == [""]


def test_without_any_metadata_cells_are_known_by_what_they_hold() -> None:
    def strip(cells: list[Cell]) -> None:
        for cell in cells:
            cell["metadata"] = {}

    cells = repaired(strip)
    assert names_in(cells) == list(PACKAGE.nbgrader_cells)
    assert named(cells, "question_R2")["source"] == "Because."


def test_no_attached_picture_of_a_submission_survives() -> None:
    def attach(cells: list[Cell]) -> None:
        cells.append(
            {"cell_type": "markdown", "source": "![](attachment:a)", "attachments": {"a": {"image/png": "AA"}}}
        )

    assert "attachments" not in repaired(attach)[-1]


def test_no_output_of_a_submission_survives() -> None:
    def claim(cells: list[Cell]) -> None:
        output = {"output_type": "execute_result", "data": {"text/plain": "400"}, "metadata": {}, "execution_count": 1}
        named(cells, "check_attend")["outputs"] = [output]

    assert all(cell.get("outputs", []) == [] for cell in repaired(claim))


@pytest.mark.parametrize(
    "content", [b"", b"null", b"[]", b"{}", b'{"cells": 1}', b'{"cells": []}', b"\xff\xfe", b"[" * 100_000, b"1e999"]
)
def test_what_is_no_notebook_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(SubmissionError, match=r"cannot be read as a notebook|none of the lesson's exercise cells"):
        repair_submission(content, PACKAGE)


def survives(content: bytes) -> None:
    try:
        notebook = repair_submission(content, PACKAGE)
    except SubmissionError:
        return
    checked(notebook.as_dict())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from([*PACKAGE.nbgrader_cells, "", "unknown"])
CELLS = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw", "heading"]) | JSON},
    optional={
        "source": st.text(max_size=20) | st.lists(st.text(max_size=5), max_size=3) | JSON,
        "id": st.sampled_from(["a", "b", "", "x" * 65]) | JSON,
        "outputs": JSON,
        "attachments": JSON,
        "metadata": st.builds(lambda name, more: {"nbgrader": {"grade_id": name, **more}}, NAMES, st.just({}))
        | st.builds(lambda data: {"nbgrader": data}, JSON)
        | JSON,
    },
)


@WITHOUT_FIXTURES
@given(JSON)
def test_any_json_is_repaired_or_refused(data: object) -> None:
    survives(json.dumps(data).encode("utf-8", "surrogatepass"))


@WITHOUT_FIXTURES
@given(st.lists(CELLS, max_size=6), st.lists(st.integers(0, 60), max_size=6), st.integers(3, 5) | JSON)
def test_any_cells_among_and_instead_of_the_released_ones_are_repaired_or_refused(
    cells: list[Cell], places: list[int], version: object
) -> None:
    notebook = handed_in()
    for place, cell in zip(places, cells, strict=False):
        notebook["cells"][place % len(notebook["cells"])] = cell
    notebook["cells"] += cells[len(places) :]
    survives(json.dumps(notebook).encode())
    survives(json.dumps({**notebook, "cells": cells, "nbformat": version}).encode())


@WITHOUT_FIXTURES
@given(st.binary(max_size=60))
def test_noise_is_refused(noise: bytes) -> None:
    survives(noise)
