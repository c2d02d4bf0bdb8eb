"""What a program can see of the solved notebooks, and a build does not: it stops at the first error."""

import re

import pytest

from autograder.authoring.notebook import read_notebook
from autograder.paths import find_course

LESSONS = find_course().lessons()


@pytest.fixture(params=LESSONS, ids=lambda lesson: lesson.name)
def solved(request: pytest.FixtureRequest):
    return read_notebook(request.param.solved_ipynb)


def code(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook) -> list:
    return [output for cell in code(notebook) for output in cell.outputs]


def test_every_figure_cell_drew(solved) -> None:
    drawing = [cell for cell in code(solved) if re.search(r"\bplot\.\w+\(|\bplt\.show\(", cell.source)]
    assert drawing
    for cell in drawing:
        if "not yet: " in "".join(output.get("text", "") for output in cell.outputs):
            continue  # it draws with another lesson's exercises, which are not solved here
        assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.source


def test_every_picture_has_a_description(solved) -> None:
    for output in outputs(solved):
        if "image/png" in output.get("data", {}):
            assert len(output.metadata["image/png"]["alt"]) > 40


def test_nothing_went_to_stderr(solved) -> None:
    assert [o for o in outputs(solved) if o.get("name") == "stderr"] == []


def test_no_output_holds_an_address_a_path_or_a_widget(solved) -> None:
    text = re.sub(r"[A-Za-z0-9+/=]{500,}", "", str(outputs(solved)))  # a picture's bytes may spell anything
    assert not re.search(r"0x[0-9a-f]{6,}|/home/|/tmp/|widget-view", text)
