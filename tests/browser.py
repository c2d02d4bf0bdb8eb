"""What the browser tests share: Chromium, JupyterLab as a student starts it, cells that scroll out of view."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from autograder.paths import Course

from .conftest import LESSON

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
STEPS = 80  # down a notebook
PANEL = "document.querySelector('.jp-WindowedPanel-outer')"
START_SECONDS, STOP_SECONDS = 600.0, 20.0
SLOW = 600_000  # milliseconds, far more than anything takes; a busy computer decides nothing
expect.set_options(timeout=SLOW)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


@contextmanager
def serving(
    place: Path, variables: dict[str, str] | None = None, program: tuple[str, ...] = ("jupyterlab",)
) -> Iterator[str]:
    """Run JupyterLab without a browser of its own, on a port that it finds free; yield its address."""
    command = [sys.executable, "-m", *program, "--no-browser", "--allow-root", "--ServerApp.port_retries=500"]
    own = tempfile.mkdtemp()  # tabs and settings of nobody else
    folders = {"JUPYTERLAB_WORKSPACES_DIR": own, "JUPYTERLAB_SETTINGS_DIR": own, "JUPYTER_RUNTIME_DIR": own}
    server = subprocess.Popen(
        [*command, "--IdentityProvider.token="],
        cwd=place,
        env={**os.environ, **folders, **(variables or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield address_of(server, Path(own))
    finally:
        end(server)
        shutil.rmtree(own, ignore_errors=True)


def address_of(server: subprocess.Popen, own: Path) -> str:
    """Wait until a server answers; return the address that it has written down."""
    written = own / f"jpserver-{server.pid}.json"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        with contextlib.suppress(OSError, ValueError, urllib.error.URLError):
            address = json.loads(written.read_text())["url"].rstrip("/")
            urllib.request.urlopen(f"{address}/api").close()
            return str(address)
        time.sleep(0.1)
    raise AssertionError("JupyterLab did not answer")


def end(server: subprocess.Popen) -> None:
    """End a server with its kernels; whether it is polite about it is not what these tests are for."""
    kernels = psutil.Process(server.pid).children(recursive=True) if server.poll() is None else []
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    for kernel in kernels:
        with contextlib.suppress(psutil.NoSuchProcess):
            kernel.kill()


@contextmanager
def chromium() -> Iterator[Page]:
    """Open a page in a Chromium of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield patient_page(browser)
        browser.close()


def patient_page(browser: Browser) -> Page:
    """Open a page on which everything is waited for long enough."""
    page = browser.new_page(viewport={"width": 1300, "height": 1000})
    page.set_default_timeout(SLOW)
    return page


@pytest.fixture(scope="module")
def lab(classroom: Course) -> Iterator[str]:
    """JupyterLab as `make lab` starts it, on a copy of the lessons."""
    with serving(classroom.root, program=("autograder", "lab")) as address:
        yield address


@pytest.fixture(scope="module")
def page(lab: str) -> Iterator[Page]:
    with chromium() as opened:
        open_lesson(opened, lab, LESSON)
        yield opened


def open_lesson(page: Page, lab: str, lesson: str) -> None:
    open_notebook(page, f"{lab}/lab/tree/{lesson}/{lesson}.ipynb")


def open_notebook(page: Page, address: str) -> None:
    page.goto(f"{address}?reset")  # no tabs of earlier tests
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()


def find(page: Page, text: str) -> Locator:
    """Scroll to the cell that holds a text; JupyterLab draws only what is in view, and on a busy computer late."""
    for step in range(20 * STEPS):
        if step % STEPS == 0:
            page.evaluate(f"{PANEL}.scrollTop = 0")
        cell = page.locator(".jp-CodeCell", has_text=text)
        if cell.count():
            cell.first.scroll_into_view_if_needed()
            return cell.first
        page.evaluate(f"{PANEL}.scrollTop += 600")
        page.wait_for_timeout(100)
    raise AssertionError(f"no cell holds {text!r}")


def write(page: Page, exercise: str, code: str) -> None:
    find(page, f"def {exercise}(").locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def run_cell(page: Page, text: str) -> Locator:
    cell = find(page, text)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    return cell


def last_count(page: Page) -> str:
    last = page.locator(".jp-CodeCell", has_text="recap()")
    return (last.first if last.count() else find(page, "recap()")).locator(".jp-InputPrompt").text_content() or ""


def run_all(page: Page) -> None:
    """Run all cells, and wait until the last one has a new count."""
    before = last_count(page)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    for _ in range(SLOW // 500):
        page.wait_for_timeout(500)
        if re.fullmatch(r"\[\d+\]:", now := last_count(page)) and now != before:
            return
    raise AssertionError("the last cell did not run")


def card(page: Page, exercise: str) -> str:
    cell = find(page, f"check({exercise})")
    shown = cell.locator("[role=status]")
    shown.wait_for()
    return shown.text_content() or ""
