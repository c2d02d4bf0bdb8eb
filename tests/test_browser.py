"""A student in a real JupyterLab: solves wrongly, reads, mends, runs everything, validates.

Needs Chromium (Debian's package is enough); without it these tests are skipped.
"""

import pytest
from playwright.sync_api import Page, expect

from .browser import card, find, lab, needs_chromium, page, run_all, write
from .conftest import OVER_QUERIES

__all__ = ["lab", "page"]
WRONG = {"attention_scores": "scaled_already", "attend": "softmax_over_queries", "copy_previous_qk": "too_soft"}

pytestmark = [needs_chromium, pytest.mark.slow]


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
