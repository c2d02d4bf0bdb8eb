"""What a program can see of the solved notebooks: that they ran from top to bottom, and that figures drew."""

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


def test_counts_run_from_one_to_n(solved) -> None:
    assert [cell.execution_count for cell in code(solved)] == list(range(1, len(code(solved)) + 1))


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


def test_nothing_failed_and_nothing_went_to_stderr(solved) -> None:
    assert [o for o in outputs(solved) if o.output_type == "error" or o.get("name") == "stderr"] == []


def test_every_check_passed(solved) -> None:
    cards = [c.outputs[0].data["text/plain"] for c in code(solved) if c.source.startswith("check(")]
    assert cards
    assert all(card.startswith("✓") for card in cards)


def test_no_output_holds_an_address_a_path_or_a_widget(solved) -> None:
    text = re.sub(r"[A-Za-z0-9+/=]{500,}", "", str(outputs(solved)))  # a picture's bytes may spell anything
    assert not re.search(r"0x[0-9a-f]{6,}|/home/|/tmp/|widget-view", text)
