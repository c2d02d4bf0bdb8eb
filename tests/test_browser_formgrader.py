"""An instructor in Formgrader: every button of a lesson's life, and the rows that the command line gives."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.report import make_report
from autograder.classroom.run import grade_lesson, register
from autograder.paths import Course

from .browser import SLOW, chromium, needs_chromium, serving
from .conftest import LESSON, needs_sandbox

pytestmark = [
    needs_chromium,
    pytest.mark.slow,
    needs_sandbox,
]
STUDENTS = ("ada", "bob", "cyd")


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, package, right) -> Course:
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    wrong = {"attend": known["attend", "softmax_over_queries"].source}
    for student, edits in zip(STUDENTS, (right, {**right, **wrong}, {}), strict=True):
        hand_in(classroom, student, edits)
    register(classroom, classroom.lesson(LESSON))
    return classroom


@pytest.fixture(scope="module")
def formgrader(handed_in: Course) -> Iterator[str]:
    """JupyterLab as `make formgrader` starts it."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with serving(handed_in.root, {"PATH": path}) as address:
        yield f"{address}/formgrader"


@pytest.fixture(scope="module")
def page(formgrader: str) -> Iterator[Page]:
    with chromium() as opened:
        yield opened


def press(page: Page, row: str, button: str) -> str:
    """Press a button in a table's row, wait for the dialog, close it and return its words."""
    line = page.locator("tbody tr", has_text=row).first
    line.locator(f"td.{button} a").click()
    dialog = page.locator(".modal.in, .modal.show").first
    dialog.wait_for()
    page.wait_for_timeout(500)
    words = dialog.inner_text()
    dialog.get_by_role("button").last.click()
    dialog.wait_for(state="hidden")
    return words


def wait_until(page: Page, done: Callable[[], bool]) -> None:
    """Wait for what a page does in the background."""
    for _ in range(SLOW // 100):
        if done():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not happen")


def saved(page: Page) -> AbstractContextManager[object]:
    """Wait until the points that are given in a block have arrived; a page that is left earlier loses them."""
    return page.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT")


def rows(course: Course) -> dict[str, tuple[float, float]]:
    with open_gradebook(course) as gradebook:
        return {s.student.id: (s.score, s.max_score) for s in gradebook.assignment_submissions(LESSON)}


def test_generate_leaves_what_students_have_as_it_is(page: Page, formgrader: str, handed_in: Course) -> None:
    released = handed_in.lesson(LESSON).released_dir
    before = {path.name: path.read_bytes() for path in released.iterdir()}
    page.goto(f"{formgrader}/manage_assignments")
    assert "success" in press(page, LESSON, "assign").lower()
    assert {path.name: path.read_bytes() for path in released.iterdir()} == before


def test_autograde_gives_the_rows_of_the_command_line(page: Page, formgrader: str, handed_in: Course) -> None:
    page.goto(f"{formgrader}/manage_submissions/{LESSON}")
    for student in STUDENTS:
        assert "success" in press(page, student, "autograde").lower()
    clicked = rows(handed_in)
    graded = grade_lesson(handed_in, handed_in.lesson(LESSON), force=True)
    assert {row.student: (row.score, row.max_score) for row in graded} == clicked
    assert clicked["ada"][0] > clicked["bob"][0] > clicked["cyd"][0] == 0


def test_a_question_is_graded_with_its_rubric_in_view(page: Page, formgrader: str, handed_in: Course) -> None:
    page.goto(f"{formgrader}/gradebook/{LESSON}/{LESSON}")
    page.locator("tbody tr td a").first.click()
    rubric = page.get_by_text("For the grader only")
    rubric.wait_for()
    before = sum(score for score, _ in rows(handed_in).values())
    box = page.locator("input.score").last
    box.scroll_into_view_if_needed()
    box.fill("2")
    box.blur()
    wait_until(page, lambda: sum(score for score, _ in rows(handed_in).values()) == before + 2)


def test_a_rubrics_line_gives_its_points_and_writes_the_comment(page: Page) -> None:
    answer = page.locator(".cell:has(input.score)").last
    lines = page.locator("tr:has(button)")
    wrong = lines.filter(has_text="sounds right").last
    with saved(page):
        wrong.get_by_role("button").click()
    points = wrong.get_by_role("button").inner_text()
    expect(answer.locator("input.score")).to_have_value(points)
    expect(answer.locator("textarea")).to_have_value(wrong.locator("td").last.inner_text())
    with saved(page):
        lines.first.get_by_role("button").click()
    expect(answer.locator("input.score")).to_have_value(str(int(points) + 1))
    page.reload()
    expect(answer.locator("input.score")).to_have_value(str(int(points) + 1))


def test_a_key_leads_to_the_same_question_of_the_next_submission(page: Page) -> None:
    shown = page.url.partition("?")[0]
    page.locator("input.score").last.focus()
    page.keyboard.press("Control+Period")
    page.wait_for_url(lambda address: address.partition("?")[0] != shown)


def test_feedback_is_made_and_shows_no_rubric(page: Page, formgrader: str, handed_in: Course, package) -> None:
    page.goto(f"{formgrader}/manage_submissions/{LESSON}")
    for student in STUDENTS:
        assert "success" in press(page, student, "generate-feedback").lower()
    rubric = next(iter(package.rubrics.values())).splitlines()[0][:60]
    for student in STUDENTS:
        html = (handed_in.feedback / student / LESSON / f"{LESSON}.html").read_text()
        assert "For the grader only" not in html
        assert rubric not in html


def test_the_class_report_is_accessible_and_complete(page: Page, handed_in: Course) -> None:
    html, _ = make_report(handed_in, handed_in.lesson(LESSON))
    page.goto(html.as_uri())
    assert page.get_by_text("3 handed in, 3 graded").count() == 1
    found = Axe().run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
