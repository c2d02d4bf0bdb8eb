"""What a submission shows, in a real browser: no script runs, nothing is loaded, and no grade changes.

Each file under tests/hostile/pages displays something that would act in the page of whoever opens it. The control
shows that it does where outputs are taken as they come.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import Page

from autograder.classroom.feedback import make_feedback
from autograder.classroom.report import make_report
from autograder.classroom.run import grade_lesson
from autograder.grading.sandbox import Limits
from autograder.grading.sandbox.pool import open_session
from autograder.paths import Course

from .browser import chromium, needs_chromium, serving
from .conftest import LESSON, needs_sandbox

pytestmark = [
    needs_chromium,
    pytest.mark.slow,
    needs_sandbox,
]
BANK = sorted((Path(__file__).parent / "hostile" / "pages").glob("*.py"))
NAMES = [path.stem for path in BANK]
# nbconvert 7.17's plain page escapes these, leaves them out or isolates them, so the control cannot show that they act;
# they stay in the bank because templates change
HARMLESS_ANYWAY = {
    *("printed_html", "error_with_html", "handler_in_latex", "javascript", "frame_in_html"),
    *("content_of_a_picture", "description_of_a_picture", "vector_picture"),
}


class Visit:
    """What happened while a page was open."""

    def __init__(self, page: Page) -> None:
        self.page, self.requests, self.dialogs = page, list[str](), list[str]()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def open(self, address: str) -> tuple[list[str], list[str]]:
        """Open a page; return which of the bank have acted, and what was asked for from elsewhere."""
        self.requests.clear()
        self.page.goto(address, wait_until="load")
        acted = self.page.evaluate("window.HOSTILE || []")
        return sorted(set(acted)) + self.dialogs, [request for request in self.requests if "127.0.0.1:9/" in request]


@pytest.fixture(scope="module")
def visit() -> Iterator[Visit]:
    with chromium() as page:
        yield Visit(page)


@pytest.fixture(scope="module")
def graded(classroom: Course, hand_in, right) -> Course:
    for path in BANK:
        shown = right["copy_previous_qk"] + "\n\n\n" + path.read_text(encoding="utf-8")
        hand_in(classroom, path.stem, {**right, "copy_previous_qk": shown})
    path = hand_in(classroom, "text_and_metadata", right)
    spoil(path)
    results = grade_lesson(classroom, classroom.lesson(LESSON), jobs=2)
    assert {r.student: r.score for r in results if r.status == "graded"}.keys() == {*NAMES, "text_and_metadata"}
    return classroom


def spoil(path: Path) -> None:
    """Put what acts into a text cell, an attachment, a cell's tags and the notebook's metadata."""
    hit = "(window.HOSTILE=window.HOSTILE||[]).push(/{}/.source)"
    notebook = nbformat.read(path, as_version=4)
    answer = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "question_R2")
    answer.source = (
        f'<img src="data:," onerror="{hit.format("answer")}"> [x](javascript:alert(1)) ![x](attachment:a.png)'
    )
    answer.attachments = {"a.png": {"image/png": f'" onerror="{hit.format("attachment")}'}}
    notebook.cells[0].metadata["tags"] = [f'x" onmouseover="{hit.format("tag")}']
    notebook.metadata["title"] = f"</title><script>{hit.format('title')}</script>"
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": 5}}
    path.write_text(nbformat.v4.writes(notebook), encoding="utf-8")


def test_the_control_acts_where_outputs_are_taken_as_they_come(visit: Visit, tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook()
    for path in BANK:
        with open_session({}, "", Limits(), allow_unsandboxed=False) as session:
            outputs = session.run(path.read_text(encoding="utf-8")).outputs
        notebook.cells.append(nbformat.v4.new_code_cell("", outputs=[nbformat.from_dict(o) for o in outputs]))
    page = tmp_path / "control.html"
    page.write_text(HTMLExporter(template_name="basic").from_notebook_node(notebook)[0], encoding="utf-8")
    acted, asked = visit.open(page.as_uri())
    elsewhere = {"picture_elsewhere", "style_elsewhere"}
    assert set(NAMES) - set(acted) <= HARMLESS_ANYWAY | elsewhere
    assert asked


@pytest.mark.parametrize("student", [*NAMES, "text_and_metadata"])
def test_a_feedback_page_does_nothing(graded: Course, visit: Visit, feedback, student: str) -> None:
    page = graded.feedback_page(graded.lesson(LESSON), student)
    assert visit.open(page.as_uri()) == ([], [])


@pytest.fixture(scope="module")
def feedback(graded: Course) -> None:
    assert make_feedback(graded, graded.lesson(LESSON)).failed == {}


def test_the_report_does_nothing(graded: Course, visit: Visit) -> None:
    page, _ = make_report(graded, graded.lesson(LESSON))
    assert visit.open(page.as_uri()) == ([], [])


def test_formgraders_pages_do_nothing(graded: Course, visit: Visit) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with serving(graded.root, {"PATH": path}) as address:
        visit.page.goto(f"{address}/formgrader/gradebook/{LESSON}/{LESSON}")
        visit.page.wait_for_selector("tbody tr a")
        links = [a.get_attribute("href") for a in visit.page.locator("tbody tr a").all()]
        pages = sorted({link for link in links if link and "/submissions/" in link})
        assert len(pages) == len(NAMES) + 1
        for link in pages:
            assert visit.open(f"{address}{link}?index=0" if "?" not in link else f"{address}{link}") == ([], [])
