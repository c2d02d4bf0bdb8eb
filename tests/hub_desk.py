"""A student's browser on the hub: the lesson, Assignment List, the start page and the feedback, by mouse and keys."""

import json
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect

from .browser import open_notebook, patient_page, run_cell, write
from .hub_server import User
from .waiting import wait_until

START_PAGE = "attention-lessons/notebooks/index.ipynb"
THEMES = Path(".jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings")
THEME_MILLISECONDS = 2000  # JupyterLab loads its other theme; only a picture depends on it


def signed_in(browser: Browser, address: str, name: str) -> Page:
    """Open an address of the hub, as somebody who logs in on the way there."""
    page = patient_page(browser)
    page.goto(address)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("any")
    page.get_by_role("button", name="Sign in").click()
    return page


class Desk:
    """JupyterLab as a student sees it.

    Args:
        browser: where it opens.
        user: who sits there.
        notebook: the lesson's path on the user's server.
    """

    def __init__(self, browser: Browser, user: User, notebook: str) -> None:
        self.page = signed_in(browser, user.address, user.name)
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self._lab, self._notebook = f"{user.address}lab/tree/", notebook

    def open(self) -> None:
        """Open the lesson and run its first cell."""
        open_notebook(self.page, self._lab + self._notebook)
        run_cell(self.page, "from autograder import")

    def check(self, exercise: str, code: str, times: int = 1) -> Locator:
        """Write an answer and check it; return the cell that shows what came out."""
        write(self.page, exercise, code)
        self.page.keyboard.press("Control+Enter")
        return [run_cell(self.page, f"check({exercise})") for _ in range(times)][-1]

    def submit(self) -> None:
        """Save the lesson and hand it in."""
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)
        self.page.get_by_role("menuitem", name="Nbgrader").click()
        self.page.get_by_role("menuitem", name="Assignment List").click()
        self.page.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()

    def fetch(self, fetched: Callable[[], bool]) -> None:
        """Fetch feedback, and wait until it is there."""
        submitted = self.page.locator("#submitted_assignments_list")
        submitted.get_by_role("button", name="Fetch Feedback").click()
        wait_until(fetched)

    def start_page(self) -> Locator:
        """Open the start page and run its cell; return that."""
        open_notebook(self.page, self._lab + START_PAGE)
        cell = self.page.locator(".jp-CodeCell").first
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        return cell

    def feedback(self) -> FrameLocator:
        """Open the lesson's feedback from the start page."""
        self.page.locator(".jp-CodeCell").first.get_by_role("link", name="Feedback").click()
        viewer = self.page.frame_locator(".jp-HTMLViewer iframe")
        viewer.get_by_role("table").first.wait_for()
        return viewer


def follow_the_browsers_colors(home: Path) -> None:
    """Have JupyterLab be dark where the browser is."""
    (home / THEMES).parent.mkdir(parents=True, exist_ok=True)
    (home / THEMES).write_text(json.dumps({"adaptive-theme": True}))


def photograph(page: Page, folder: Path, name: str) -> None:
    """Keep a picture of what is on the screen, light and dark."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(THEME_MILLISECONDS)
        page.screenshot(path=str(folder / f"{name}-{scheme}.png"))


def seconds_until(done: Callable[[], object]) -> float:
    """Return how long it takes until something is so."""
    begun = time.monotonic()
    wait_until(done)
    return time.monotonic() - begun
