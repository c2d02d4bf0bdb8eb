"""The board's page in Chromium: it follows the class, keeps open what is open, and can be read by everybody."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from autograder.paths import Course

from .board_hub import TEACHER, Running, running
from .browser import chromium, needs_chromium
from .conftest import LESSON
from .test_board import a_try

pytestmark = [needs_chromium, pytest.mark.slow]
HOSTILE = "<img/src=x/onerror=document.title='taken'>"
STUDENTS = [*(f"student{number:03d}" for number in range(299)), HOSTILE]


@pytest.fixture(scope="module")
def board(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A class of 300 in the middle of a lab."""
    with running(course, tmp_path_factory.mktemp("board"), STUDENTS) as found:
        for number, name in enumerate(STUDENTS):
            tries = [a_try(k) for k in range(1 + number % 4)] if number % 3 else [a_try(passed=True)]
            more = (
                [a_try(9, exercise="project_qkv", message="what_is_there", code="<b>x</b>")] if number % 7 == 0 else []
            )
            found.tell(f"token-of-{name}", *tries, *more)
        yield found


@pytest.fixture(scope="module")
def page(board: Running) -> Iterator[Page]:
    with chromium() as opened:
        opened.set_extra_http_headers({"Authorization": f"token {TEACHER}"})
        opened.goto(f"{board.address}?lesson={LESSON}")
        opened.get_by_text("Live: the page follows the class.").wait_for()
        opened.locator("tbody tr").nth(299).wait_for()
        yield opened


def picture(page: Page, folder: Path, name: str) -> None:
    page.screenshot(path=str(folder / f"{name}.png"))


def test_everybody_has_a_row_and_every_exercise_a_column(page: Page) -> None:
    assert page.locator("tbody tr").count() == 300
    *_, attend, copy, handed_in = page.locator("thead th").all_text_contents()
    assert (attend, copy, handed_in) == ("2.3 attend", "2.4 copy_previous_qk", "handed in")
    row = page.locator("tbody tr", has_text="student001").locator("td").all_text_contents()
    assert row == ["○ not started", "○ not started", "… working", "○ not started", ""]
    assert page.locator("td.stuck").first.text_content() == "! stuck"


def test_what_is_open_stays_open_and_focused_while_the_page_updates(page: Page, board: Running) -> None:
    summary = page.locator("article", has_text="attend:").or_(page.locator("article")).nth(2).locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open] .names").first.is_visible()
    board.tell("token-of-student001", a_try(50, passed=True))
    page.locator("tbody tr", has_text="student001").get_by_text("✓ passed").wait_for()
    assert page.locator("details[open]").count() == 1
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_names_messages_and_code_are_text(page: Page, board: Running) -> None:
    board.tell(f"token-of-{HOSTILE}", a_try(60, exercise="attention_scores", message="__proto__"))
    page.locator("summary", has_text="not known here").wait_for()
    assert page.locator("tbody th", has_text="<img/src=x").count() == 1
    assert (page.locator("img").count(), page.title()) == (0, "The class at a glance")
    assert page.locator("pre").first.text_content() == "<b>x</b>"
    assert page.locator("pre b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("large", [False, True])
def test_it_is_accessible_in_light_and_dark_near_and_far(page: Page, scheme: str, large: bool, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    button = page.get_by_role("button", name="Large, without names")
    if (button.get_attribute("aria-pressed") == "true") != large:
        button.click()
    picture(page, tmp_path, f"{scheme}-{large}")
    violations = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in violations] == []
    assert page.locator("table").is_visible() is not large
    assert page.locator(".names").first.is_visible() is False or not large


def test_a_past_hour_and_back(page: Page) -> None:
    page.get_by_label("The hour from").fill("2026-01-05T10:00")
    page.get_by_text("all messages seen in it, and the class at its end.").wait_for()
    assert page.locator("td.none").count() == 1200
    page.reload()
    page.get_by_text("all messages seen in it, and the class at its end.").wait_for()
    page.get_by_role("button", name="Now").click()
    page.get_by_text("Live: the page follows the class.").wait_for()
    page.get_by_role("button", name="Large, without names").click()
    page.locator("td.passed").first.wait_for()


def test_on_a_telephone_nothing_but_the_table_scrolls_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1300, "height": 1000})


def test_it_prints_without_controls_and_says_of_what_and_when_it_is(page: Page, tmp_path: Path) -> None:
    page.emulate_media(media="print")
    assert not page.locator("#controls").or_(page.locator("#status")).filter(visible=True).count()
    assert re.fullmatch(r"2\. Queries, keys, values, \w+ \d+, \d+, .+", page.locator("#printed").inner_text())
    page.emulate_media(media="screen")
