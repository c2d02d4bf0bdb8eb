"""No page takes minutes, wherever it is rendered: texts share an allowance, and what a lesson holds is far below it."""

import re
import time
import tracemalloc

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.notebooknode import from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.server_extensions.formgrader import handlers

from autograder.authoring.nbgrader_course import load_config
from autograder.authoring.notebook import read_notebook
from autograder.classroom.rendering import ALLOWANCE, CUT, KEY, PICTURE
from autograder.grading.cells import BUDGET
from autograder.grading.grade import RUBRIC_TAG
from autograder.grading.outputs import LONGEST
from autograder.paths import Course

# long pages get a quarter of the allowance, which takes a quarter of its six seconds
QUARTER = ALLOWANCE // 4
SECONDS = 15.0  # of the processor; it takes two. Without the allowance each of these pages takes minutes
TEXTS = {
    "unclosed formulas": "$a ",
    "formulas": "$x^2$ ",
    "characters to escape": "<&",
}


@pytest.fixture
def formgrader(course: Course) -> HTMLExporter:
    """The exporter that Formgrader makes."""
    config = load_config(course.root)
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    return HTMLExporter(config=config)


def resources() -> dict[str, object]:
    names = dict.fromkeys(("assignment_id", "notebook_id", "student", "submission_id", "base_url"), "x")
    return {**names, "index": 0, "total": 1, "filename": "x", "last_name": "", "first_name": "", "mathjax_url": ""}


def page_of(exporter: HTMLExporter, cells: list, allowance: int = ALLOWANCE) -> tuple[str, int, float]:
    began = time.process_time()
    text, about = exporter.from_notebook_node(new_notebook(cells=cells), resources={**resources(), KEY: allowance})
    return text, about[KEY], time.process_time() - began


@pytest.mark.parametrize("kind", TEXTS)
def test_long_texts_do_not_hold_formgrader_up(formgrader: HTMLExporter, kind: str) -> None:
    long = TEXTS[kind] * (BUDGET.characters // len(TEXTS[kind]))
    cells = [new_markdown_cell(long[:7000]) for _ in range(30)] + [new_markdown_cell(long) for _ in range(10)]
    text, _, seconds = page_of(formgrader, cells, QUARTER)
    assert CUT in text
    assert seconds < SECONDS


def test_short_formulas_in_many_cells_are_drawn_as_far_as_the_allowance_goes(formgrader: HTMLExporter) -> None:
    cells = [new_markdown_cell("$a$ " * 60, id=f"c{n}") for n in range(500)]
    text, _, seconds = page_of(formgrader, cells, QUARTER)
    drawn = text.count("<math")
    assert 250 < drawn < 3_750
    assert CUT in text
    assert seconds < SECONDS


def test_nested_html_in_many_outputs_does_not_hold_formgrader_up(formgrader: HTMLExporter) -> None:
    data = {"text/html": ("<div>" * 2900 + "deep")[: LONGEST["text/html"]]}
    cells = [new_code_cell(outputs=[new_output("display_data", data)] * 50) for _ in range(10)]
    text, _, seconds = page_of(formgrader, cells, QUARTER)
    assert "deep" in text
    assert seconds < SECONDS


@pytest.mark.parametrize(
    "cell",
    [
        new_code_cell("f'{" * (BUDGET.characters // 3)),
        new_code_cell(outputs=[new_output("stream", name="stdout", text="\x1b[1ma" * 20_000)]),
        new_code_cell(outputs=[new_output("error", ename="x", evalue="x", traceback=["\x1b[1ma" * 400] * 100)]),
    ],
)
def test_code_and_colors_do_not_hold_formgrader_up(formgrader: HTMLExporter, cell) -> None:
    text, _, seconds = page_of(formgrader, [from_dict({**cell, "id": f"cell-{n}"}) for n in range(50)], QUARTER)
    assert "<pre>" in text
    assert seconds < SECONDS


@pytest.mark.parametrize("blank", ["\n ", "  \n", "\n\t"])
def test_blank_lines_which_colors_read_again_at_each_line_are_not_colored(formgrader: HTMLExporter, blank: str) -> None:
    text, _, _ = page_of(formgrader, [new_code_cell(f"x = 1{blank * 4000}y = 2")])
    assert CUT in text


def test_a_tag_of_thousands_of_attributes_is_charged_for_them(formgrader: HTMLExporter) -> None:
    data = {"text/html": f"<b {' '.join(f'a{n}' for n in range(6500))}>bold</b>"}
    _, left, _ = page_of(formgrader, [new_code_cell(outputs=[new_output("display_data", data)])])
    assert ALLOWANCE - left > ALLOWANCE / 10


@pytest.mark.parametrize("style", ["a(" * 5000, "[" * 9000, "{" * 9000])
def test_styles_nested_deeper_than_python_goes_cost_no_page(formgrader: HTMLExporter, style: str) -> None:
    data, text = {"text/html": f'<p style="color:{style}">shown'}, f'<p style="color:{style}">seen'
    cells = [new_code_cell(outputs=[new_output("display_data", data)]), new_markdown_cell(text)]
    page, _, _ = page_of(formgrader, cells)
    assert "shown" in page
    assert "seen" in page
    assert "<p style" not in page


@pytest.mark.parametrize("left", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<<b>script>alert(1)<"])
def test_what_cannot_be_paid_for_is_as_harmless(formgrader: HTMLExporter, left: str) -> None:
    data = {"text/html": "<b>" * 3000 + left}
    outputs = [new_output("display_data", data)] * 20
    text, _, _ = page_of(formgrader, [new_code_cell(outputs=outputs), new_markdown_cell(left + "x" * 90_000)])
    assert "<script>alert" not in text
    assert "<img src=x" not in text


def test_every_lesson_costs_less_than_a_third_of_the_allowance(course: Course, formgrader: HTMLExporter) -> None:
    for lesson in course.lessons():
        _, left, _ = page_of(formgrader, list(read_notebook(lesson.solved_ipynb).cells))
        assert ALLOWANCE - left < ALLOWANCE / 3, lesson.name


RUBRIC = """**For the grader only**

| points | for |
|---|---|
| 1 | Keys decide how much |

| points | an answer that is not right | what to write below it |
|---|---|---|
| 0 | "K = V" | That is the query. |
"""


def test_a_rubrics_points_are_buttons(formgrader: HTMLExporter) -> None:
    cell = new_markdown_cell(RUBRIC, metadata={"tags": [RUBRIC_TAG]})
    text, _, _ = page_of(formgrader, [cell])
    assert re.findall(r"<button[^>]*>(\d)</button></td>", text) == ["1", "0"]
    assert "document.currentScript" in text


def test_a_table_of_a_student_has_none(formgrader: HTMLExporter) -> None:
    text, _, _ = page_of(formgrader, [new_markdown_cell(RUBRIC)])
    assert "Keys decide how much" in text
    assert "document.currentScript" not in text


@pytest.mark.parametrize(
    "text",
    [
        "![sketch](attachment:a)",
        "![](&#97;ttachment:zz)",
        "![](data:image/png;base64,AAAA)",
        '<IMG src="attachment:a">',
    ],
)
def test_where_a_picture_is_the_page_says_so(formgrader: HTMLExporter, text: str) -> None:
    answer = new_markdown_cell(f"My sketch: {text} It shows all.", attachments={"a": {"image/png": "AAAA"}})
    page, *_ = page_of(formgrader, [answer])
    assert f"My sketch: {PICTURE} It shows all." in page


def test_a_picture_that_is_shown_often_costs_no_memory(formgrader: HTMLExporter) -> None:
    cell = new_markdown_cell("![][r]\n" * 50 + "\n[r]: attachment:a\n", attachments={"a": {"image/png": "A" * 2**20}})
    tracemalloc.start()
    try:
        page, *_ = page_of(formgrader, [cell])
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20  # put in as often as it is shown, it takes hundreds
    finally:
        tracemalloc.stop()
    assert page.count(PICTURE) == 50
