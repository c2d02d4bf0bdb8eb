"""A student in a real JupyterLab: solves wrongly, reads, mends, runs everything, validates; and what is beside that.

The start page, figures that move, a kernel that lost its state, accessibility. Needs Chromium (Debian's package is
enough); without it these tests are skipped.
"""

import json
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from autograder.classroom.sanitize import IN_HEAD
from autograder.paths import Course

from .browser import card, find, lab, needs_chromium, open_lesson, page, run_all, run_cell, write
from .conftest import LESSON, OVER_QUERIES

__all__ = ["lab", "page"]
WRONG = {"attention_scores": "scaled_already", "attend": "softmax_over_queries", "copy_previous_qk": "too_soft"}
SERIOUS = ("serious", "critical")
UNNAMED_HANDLE = "aria-input-field-name: ARIA input fields must have an accessible name"  # ipywidgets 8.1's own sliders

pytestmark = [needs_chromium, pytest.mark.slow]


def serious(page: Page, selector: str) -> list[str]:
    """Return axe-core's serious findings inside what we made."""
    found = Axe().run(page, context=selector).response["violations"]
    return [f"{v['id']}: {v['help']}" for v in found if v["impact"] in SERIOUS]


def test_opening_a_lesson_does_not_mark_it_as_changed(page: Page) -> None:
    tab = page.get_by_role("tab", name=re.compile(LESSON[:8]))
    assert tab.count() == 1
    page.wait_for_timeout(2_000)  # what the kernel says of itself has arrived by then
    assert page.locator(".jp-mod-dirty").count() == 0


def test_typing_does_mark_it(page: Page) -> None:
    find(page, "check(attend)")
    find(page, "same_keys").locator(".cm-content").click()
    page.keyboard.type(" ")
    page.locator(".jp-mod-dirty").first.wait_for()
    page.keyboard.press("Backspace")


def test_a_kernel_that_lost_its_state_says_what_to_do(page: Page) -> None:
    cell = run_cell(page, "check(attend)")
    cell.get_by_text("run that cell first (menu Run > Run All Above Selected Cell)").first.wait_for()


def test_only_what_a_student_needs_is_in_view(page: Page) -> None:
    text = page.locator("#jp-top-panel").inner_text() + page.locator("#jp-left-stack").inner_text()
    assert "Nbgrader" not in text
    assert "solutions" not in text
    assert page.locator(".jp-toast, .Toastify__toast").count() == 0


def test_run_all_reaches_the_end_of_an_unsolved_notebook(page: Page) -> None:
    run_all(page)
    cell = find(page, "check(attend)")
    cell.get_by_text("attend: not started").first.wait_for()
    expect(cell.get_by_text("not started")).to_have_count(1)  # waits: JupyterLab draws a cell again as it scrolls
    find(page, "shares * norms").get_by_text("0.007, 0.400, 0.300").wait_for()


def test_three_different_mistakes_are_named_beside_what_is_right(page: Page, package, right) -> None:
    known = {(m.exercise, m.name): m for m in package.key.mistakes}
    wrong = {exercise: known[exercise, name].source for exercise, name in WRONG.items()}
    for exercise, code in {**right, **wrong}.items():
        write(page, exercise, code)
    run_all(page)
    assert "✓ project_qkv: 1 of 1 check passed" in card(page, "project_qkv")
    for exercise, name in WRONG.items():
        assert known[exercise, name].message in card(page, exercise)


def test_validate_says_the_same_in_the_same_words(page: Page) -> None:
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    dialog.wait_for()
    assert OVER_QUERIES in dialog.inner_text()
    dialog.get_by_role("button").first.click()


def test_mended_exercises_pass(page: Page, right) -> None:
    for exercise in WRONG:
        write(page, exercise, right[exercise])
    run_all(page)
    assert all(card(page, exercise).startswith("✓") for exercise in right)


def test_a_stated_prediction_is_compared(page: Page) -> None:
    cell = find(page, '"three equal keys", options')
    cell.locator("label", has_text="zeros").click()
    find(page, "same_keys").locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    find(page, "same_keys").get_by_text("You predicted: zeros.").wait_for()


def test_a_slider_moves_the_figure_by_keyboard(page: Page) -> None:
    write(page, "attend", "def attend(query, key, value):\n    return value, value")
    run_all(page)
    cell = find(page, "plot.slide(")
    cell.get_by_text("query's angle 30: the weight is most on key 1").wait_for()
    picture = cell.locator("img").get_attribute("src")
    cell.get_by_role("slider").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    cell.get_by_text("query's angle 90: the weight is most on key 2 (0.84).").wait_for()
    assert cell.locator("img").get_attribute("src") != picture
    assert "key 2 (0.84)" in (cell.locator("img").get_attribute("alt") or "")


def test_cards_and_moving_figures_are_accessible(page: Page) -> None:
    find(page, "check(attend)").locator("[role=status]").evaluate("card => card.id = 'the-card'")
    assert serious(page, "#the-card") == []
    find(page, "plot.slide(").locator(".widget-vbox").first.evaluate("box => box.id = 'the-figure'")
    assert serious(page, "#the-figure") in ([], [UNNAMED_HANDLE])


def test_the_start_page_knows_what_was_checked(page: Page, lab: str, classroom: Course, key, full: int) -> None:
    (classroom.root / "notebooks" / "progress.json").write_text(json.dumps({LESSON: {"project_qkv": "passed"}}))
    page.goto(f"{lab}/?reset")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    cell = page.locator(".jp-CodeCell").first
    cell.locator("table").wait_for()
    assert "○ 2.1 project_qkv not started" in cell.inner_text()
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    cell.get_by_text("✓ 2.1 project_qkv passed").wait_for()
    cell.locator("table").evaluate("table => table.id = 'the-table'")
    assert serious(page, "#the-table") == []
    assert f"{key.points()['project_qkv']} of {full} points" in cell.inner_text()


def test_the_start_page_leads_to_the_cell_of_an_exercise(page: Page) -> None:
    page.locator(".jp-CodeCell").first.get_by_role("link", name="2.4 copy_previous_qk").first.click()
    page.get_by_role("tab", name=re.compile(LESSON[:8])).wait_for()
    stub = page.locator(".jp-CodeCell", has_text="def copy_previous_qk(")
    stub.first.wait_for()
    expect(stub.first).to_be_in_viewport()


def test_a_mask_is_clicked(page: Page, lab: str, classroom: Course) -> None:
    name = "05_masking"
    code = Path(classroom.root / "notebooks" / name / f"{name}.ipynb")
    assert "click_mask" in code.read_text()
    open_lesson(page, lab, name)
    run_cell(page, "from autograder import")
    cell = run_cell(page, "plot.click_mask(")
    cell.get_by_text("token 0 most on token 0 (1.00)").wait_for()
    cell.get_by_role("button", name="✓").first.focus()
    page.keyboard.press("Space")
    cell.get_by_text("token 0 may look at nothing, its weights are nan").wait_for()


def test_links_within_a_feedback_page_work_in_jupyterlabs_viewer(page: Page, lab: str, classroom: Course) -> None:
    filler = "<p>…</p>" * 200
    link = '<a href="#check_attend">attend</a>'
    body = f'{link}{filler}<a name="check_attend"></a><p>The card.</p>'
    path = classroom.root / "notebooks" / "feedback.html"
    path.write_text(f"<!DOCTYPE html><html><head>{IN_HEAD}</head><body>{body}</body></html>")
    page.goto(f"{lab}/lab/tree/feedback.html?reset")
    viewer = page.frame_locator(".jp-HTMLViewer iframe")
    viewer.get_by_role("link", name="attend").click()
    expect(viewer.get_by_text("The card.")).to_be_in_viewport()
    kinds = [frame.url.partition(":")[0] for frame in page.frames[1:]]
    assert kinds == ["blob"]  # a hub lets nobody frame its own pages
