"""The website as it is made: complete, readable, offline, without anything that students must not be given."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from autograder.authoring.lesson import exercises_in, read_lesson
from autograder.authoring.notebook import read_notebook
from autograder.authoring.site_pages import YOURS, needs_solution
from autograder.paths import Course, Lesson, find_course

from .browser import SLOW, chromium, needs_chromium
from .conftest import LESSON, copy_course
from .secrets_in import leaked_lines, leaked_secrets

pytestmark = pytest.mark.slow
LESSONS = find_course().lessons()
SERIOUS = ("serious", "critical")
ALSO_AVOIDED = ("landmark-unique",)
SAMPLES = ("index.html", f"lessons/{LESSON}.html", "documents/students.html", "search.html?q=causal+mask")


def copy_with_documents(course: Course, root: Path) -> Course:
    made = copy_course(course, root)
    shutil.copy(course.readme, made.readme)
    shutil.copytree(course.documents, made.documents)
    return made


@pytest.fixture(scope="module")
def site(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's site: the one that .ci/run has just made, or one made here by the command."""
    if "SITE_MADE" in os.environ:
        return course.site
    made = copy_with_documents(course, tmp_path_factory.mktemp("site"))
    subprocess.run([sys.executable, "-m", "autograder", "site"], cwd=made.root, check=True)
    return made.site


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    """Every page of the site by its path."""
    found = sorted(site.rglob("*.html"))
    return {p.relative_to(site).as_posix(): BeautifulSoup(p.read_text("utf-8"), "html.parser") for p in found}


def article(pages: dict[str, BeautifulSoup], lesson: Lesson) -> BeautifulSoup:
    return pages[f"lessons/{lesson.name}.html"].find("article")


def plain(text: str) -> str:
    """Return a text with the quotation marks that its author wrote."""
    return re.sub("[‘’]", "'", re.sub("[“”]", '"', text))


def everything(site: Path, pages: dict[str, BeautifulSoup]) -> str:
    """Return all that can be read on the site or in what it loads."""
    read = [page.get_text() for page in pages.values()]
    names = [str(img.get("alt", "")) for page in pages.values() for img in page.find_all("img")]
    files = [p.read_text("utf-8") for p in site.rglob("*") if p.suffix in (".js", ".txt", ".md", ".ipynb", ".json")]
    return plain("\n".join([*read, *names, *files]))


def test_there_is_a_page_for_each_lesson_and_each_document(course: Course, pages) -> None:
    wanted = {f"lessons/{lesson.name}.html" for lesson in LESSONS}
    wanted |= {f"documents/{path.stem}.html" for path in course.documents.glob("*.md")}
    assert set(pages) == {"index.html", "search.html", *wanted}


# what must not be there


def test_no_line_of_a_solution_is_on_the_site(course: Course, site: Path, pages) -> None:
    assert leaked_lines(course, everything(site, pages)) == set()


def test_no_hidden_check_mistake_or_rubric_is_on_the_site(course: Course, site: Path, pages) -> None:
    assert leaked_secrets(course, everything(site, pages)) == []


def test_the_search_would_find_a_solution_on_a_page(course: Course) -> None:
    cells = read_notebook(course.lesson(LESSON).solved_ipynb).cells
    code = "\n".join(highlight(c.source, PythonLexer(), HtmlFormatter()) for c in cells)
    assert leaked_lines(course, plain(BeautifulSoup(code, "html.parser").get_text()))


def test_no_check_shows_a_result(pages) -> None:
    checks = [cell for page in pages.values() for cell in page.select("div.tag_check")]
    assert len(checks) == sum(len(exercises_in(read_lesson(lesson))) for lesson in LESSONS)
    assert [cell for cell in checks if cell.select(".cell_output")] == []


def test_no_file_but_pages_and_what_they_load_is_on_the_site(site: Path) -> None:
    suffixes = {path.suffix for path in site.rglob("[!.]*") if path.is_file()}
    assert suffixes <= {".html", ".js", ".css", ".map", ".png", ".svg", ".inv", ".txt"}


# what must be there


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_its_figures_with_their_texts(lesson: Lesson, pages) -> None:
    cells, solved = read_lesson(lesson), read_notebook(lesson.solved_ipynb).cells
    free = [cell for cell, depends in zip(solved, needs_solution(cells), strict=True) if not depends]
    texts = [
        o.metadata["image/png"]["alt"] for c in free for o in c.get("outputs", []) if "image/png" in o.get("data", {})
    ]
    assert texts
    shown = [img for img in article(pages, lesson).find_all("img") if not img.find_parent("figure")]
    assert [img["alt"] for img in shown] == texts


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_an_exercise_is_there_unsolved_with_its_hints_folded(lesson: Lesson, pages) -> None:
    names = exercises_in(read_lesson(lesson))
    stubs = [cell.get_text() for cell in article(pages, lesson).select("div.tag_exercise")]
    assert [name for name, stub in zip(names, stubs, strict=True) if name not in stub] == []
    assert all("raise NotImplementedError()" in stub for stub in stubs)
    folded = article(pages, lesson).find_all("details")
    assert sum(part.summary.get_text().startswith("Hint ") for part in folded) == 3 * len(names)
    assert [part for part in folded if part.has_attr("open")] == []


def test_formulas_are_mathml_and_none_is_left_as_tex(pages) -> None:
    assert sum(len(page.find_all("math")) for page in pages.values()) > 100
    for page in pages.values():
        for code in page.find_all(["pre", "code", "script", "annotation"]):
            code.extract()
        assert re.findall(r"\$\$|\\[a-z]{2,}", page.get_text()) == []


def test_the_front_page_lists_the_lessons_and_says_where_to_start(pages) -> None:
    front = pages["index.html"].find("article")
    links = [a["href"] for a in front.find_all("a")]
    assert [link for link in links if link.startswith("lessons/")] == [
        f"lessons/{lesson.name}.html" for lesson in LESSONS
    ]
    assert "documents/students.html" in links


def test_the_front_page_shows_the_card_that_its_sentence_points_at(site: Path, pages) -> None:
    card = pages["index.html"].find("article").find("img")
    assert card.parent.find_previous("p").get_text().endswith("which mistake you made:")
    assert (site / card["src"]).is_file()


def test_every_link_within_the_site_leads_somewhere(site: Path, pages) -> None:
    broken = []
    for name, page in pages.items():
        for tag in page.find_all(["a", "img", "link", "script"]):
            target = str(tag.get("href") or tag.get("src") or "")
            if target and not re.match(r"[a-z]+:", target) and not leads_somewhere(site, pages, name, target):
                broken.append((name, target))
    assert broken == []


def leads_somewhere(site: Path, pages: dict[str, BeautifulSoup], name: str, target: str) -> bool:
    file, _, anchor = target.split("?")[0].partition("#")
    path = (site / name).parent / file if file else site / name
    if not path.is_file():
        return False
    key = path.resolve().relative_to(site.resolve()).as_posix()
    return not anchor or key not in pages or pages[key].find(id=anchor) is not None


def test_some_cell_needs_a_solution_and_says_so(pages) -> None:
    text = " ".join(page.get_text() for page in pages.values())
    assert text.count(YOURS.strip("*")) == sum(
        depends and cell.kind in ("demo", "measured")
        for lesson in LESSONS
        for cell, depends in zip(read_lesson(lesson), needs_solution(read_lesson(lesson)), strict=True)
    )
    assert YOURS.strip("*") in text


# in a browser, from files


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as opened:
        yield opened


@needs_chromium
def test_no_page_asks_the_network_for_anything_or_reports_an_error(page: Page, site: Path, pages) -> None:
    wrong: list[str] = []
    page.on(
        "request", lambda request: wrong.append(request.url) if not request.url.startswith(("file:", "data:")) else None
    )
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    for name in [*pages, "search.html?q=causal+mask"]:
        page.goto((site / "index.html").as_uri().replace("index.html", name), wait_until="load")
        page.wait_for_timeout(100)
    assert wrong == []


@needs_chromium
def test_the_listener_would_hear_a_request(page: Page, tmp_path: Path) -> None:
    heard: list[str] = []
    page.on("request", lambda request: heard.append(request.url))
    (tmp_path / "page.html").write_text('<script src="https://example.invalid/a.js"></script>')
    page.goto((tmp_path / "page.html").as_uri())
    assert "https://example.invalid/a.js" in heard


@needs_chromium
def test_the_search_finds_the_causal_mask(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    page.get_by_role("textbox", name="Search").fill("causal mask")
    page.keyboard.press("Enter")
    page.get_by_text("Search finished").wait_for()
    found = page.locator("#search-results a").all_inner_texts()
    assert "5. Masking" in found[:3]
    page.locator("#search-results a", has_text="5. Masking").first.click()
    page.wait_for_url(re.compile(r"lessons/05_masking\.html"))


@needs_chromium
@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_accessible_in_both_schemes(page: Page, site: Path, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    for name in SAMPLES:
        page.goto(site.as_uri() + "/" + name)
        page.wait_for_timeout(200)
        found = Axe().run(page).response["violations"]
        assert [
            (name, v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in SERIOUS or v["id"] in ALSO_AVOIDED
        ] == []


@needs_chromium
def test_the_schemes_differ(page: Page, site: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(set(grounds)) == 2


@needs_chromium
def test_no_page_is_wider_than_a_telephone(page: Page, site: Path, pages) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for name in pages:
        page.goto(site.as_uri() + "/" + name)
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            wide.append(name)
    assert wide == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_slider_moves_a_figure_without_a_kernel(page: Page, site: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site.as_uri()}/lessons/04_softmax.html")
    slider, frame = page.get_by_role("slider", name="temperature"), page.locator("figure.moving .frame")
    assert "temperature 1:" in page.locator("figure.moving [role=status]").inner_text()
    before = frame.screenshot()
    slider.focus()
    page.keyboard.press("End")
    page.get_by_text("temperature 32: the weight is most on score 2 (0.34).").wait_for()
    assert slider.get_attribute("aria-valuetext") == "32"
    assert frame.screenshot() != before
    assert frame.bounding_box()["width"] < 390
    assert not page.locator(".moves > img").is_visible()
    found = Axe().run(page, context="figure.moving").response["violations"]
    assert [v["id"] for v in found if v["impact"] in SERIOUS] == []


@needs_chromium
def test_two_sliders_choose_a_head_and_a_query(page: Page, site: Path) -> None:
    page.goto(f"{site.as_uri()}/lessons/06_multi_head_attention.html")
    page.get_by_role("slider", name="head").fill("3")
    page.get_by_role("slider", name="query").fill("1")
    status = page.locator("figure.moving [role=status]").inner_text()
    assert status.startswith("Head 3, query 1:")
    assert page.locator("figure.moving img").get_attribute("alt") == status


@needs_chromium
def test_without_a_script_three_frames_are_there(site: Path, page: Page) -> None:
    context = page.context.browser.new_context(java_script_enabled=False)
    context.set_default_timeout(SLOW)
    quiet = context.new_page()
    quiet.goto(f"{site.as_uri()}/lessons/04_softmax.html")
    picture = quiet.get_by_role("img", name="temperature 0.25").first
    assert picture.is_visible()
    assert not quiet.locator("figure.moving").is_visible()
    context.close()


@needs_chromium
def test_paper_shows_the_lesson_and_no_navigation(page: Page, site: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(f"{site.as_uri()}/lessons/{LESSON}.html")
    assert page.locator("article h1").is_visible()
    hidden = [".sidebar-drawer", ".toc-drawer", ".mobile-header", ".content-icon-container", "footer"]
    assert [part for part in hidden if page.locator(part).first.is_visible()] == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
