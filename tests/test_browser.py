"""A student in a real JupyterLab: solves wrongly, reads, mends, runs everything, validates.

Needs Chromium (Debian's package is enough); without it these tests are skipped.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, sync_playwright

from autograder.lessons import Course
from autograder.mutants import mistake_cell

from .conftest import LESSON

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
WRONG = {"attention_scores": "scaled_already", "attend": "softmax_over_queries", "copy_previous_qk": "too_soft"}
PANEL = "document.querySelector('.jp-WindowedPanel-outer')"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def lab(classroom: Course) -> Iterator[str]:
    """JupyterLab as `make lab` starts it, on a copy of the lessons."""
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += [f"--ServerApp.root_dir={classroom.root / 'notebooks'}", "--IdentityProvider.token="]
    config = str(Path(__file__).parent.parent / "autograder" / "lab")
    server = subprocess.Popen(
        command,
        env={**os.environ, "JUPYTER_CONFIG_PATH": config},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def wait_for(address: str) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address).close()
        except urllib.error.URLError:
            time.sleep(0.5)
        else:
            return
    raise AssertionError(f"{address} did not answer")


@pytest.fixture(scope="module")
def page(lab: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        opened = browser.new_page(viewport={"width": 1300, "height": 1000})
        opened.goto(f"{lab}/lab/tree/{LESSON}/{LESSON}.ipynb")
        opened.wait_for_selector(".jp-Notebook .jp-Cell", timeout=180_000)
        opened.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=180_000)
        yield opened
        browser.close()


def find(page: Page, text: str) -> Locator:
    """Scroll to the cell that holds a text; JupyterLab draws only what is in view."""
    page.evaluate(f"{PANEL}.scrollTop = 0")
    for _ in range(120):
        cell = page.locator(".jp-CodeCell", has_text=text)
        if cell.count():
            cell.first.scroll_into_view_if_needed()
            return cell.first
        page.evaluate(f"{PANEL}.scrollTop += 400")
        page.wait_for_timeout(100)
    raise AssertionError(f"no cell holds {text!r}")


def write(page: Page, exercise: str, code: str) -> None:
    find(page, f"def {exercise}(").locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def last_count(page: Page) -> str:
    return find(page, "shares * lengths").locator(".jp-InputPrompt").text_content() or ""


def run_all(page: Page) -> None:
    """Run all cells, and wait until the last one has a new count."""
    before = last_count(page)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    for _ in range(120):
        page.wait_for_timeout(500)
        if re.fullmatch(r"\[\d+\]:", now := last_count(page)) and now != before:
            return
    raise AssertionError("the last cell did not run within a minute")


def card(page: Page, exercise: str) -> str:
    cell = find(page, f"check({exercise})")
    shown = cell.locator("[role=status]")
    shown.wait_for(timeout=60_000)
    return shown.text_content() or ""


def test_only_what_a_student_needs_is_in_view(page: Page) -> None:
    text = page.locator("#jp-top-panel").inner_text() + page.locator("#jp-left-stack").inner_text()
    assert "Nbgrader" not in text
    assert "solutions" not in text
    assert page.locator(".jp-toast, .Toastify__toast").count() == 0


def test_run_all_reaches_the_end_of_an_unsolved_notebook(page: Page) -> None:
    run_all(page)
    assert "○ attend: not started" in card(page, "attend")
    find(page, "shares * lengths").get_by_text("0.007, 0.400, 0.300").wait_for(timeout=60_000)


def test_three_different_mistakes_are_named_beside_what_is_right(page: Page, kit, right) -> None:
    known = {(m.exercise, m.name): m for m in kit.mistakes}
    wrong = {exercise: mistake_cell(kit, known[exercise, name]) for exercise, name in WRONG.items()}
    for exercise, code in {**right, **wrong}.items():
        write(page, exercise, code)
    run_all(page)
    assert "✓ project_qkv: 1 of 1 check passed" in card(page, "project_qkv")
    for exercise, name in WRONG.items():
        assert known[exercise, name].message in card(page, exercise)


def test_validate_says_the_same_in_the_same_words(page: Page) -> None:
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    dialog.wait_for(timeout=180_000)
    assert "Your columns sum to 1" in dialog.inner_text()
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
    find(page, "same_keys").get_by_text("You predicted: zeros.").wait_for(timeout=60_000)
