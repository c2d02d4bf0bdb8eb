"""What goes onto the website's pages, and what an author is told of a lesson that cannot go there."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.lesson import LessonCell
from autograder.authoring.site import make_site
from autograder.authoring.site_pages import lesson_page, needs_solution, relinked
from autograder.errors import CourseError, LessonError
from autograder.paths import Course

from .conftest import LESSON
from .test_site import copy_with_documents

ADDRESSES = {
    "README.md": "index.md",
    "docs/students.md": "documents/students.md",
    "notebooks/01_a/01_a.ipynb": "lessons/01_a.ipynb",
    "notebooks/02_b/02_b.ipynb": "lessons/02_b.ipynb",
}


@pytest.fixture
def small(course: Course, tmp_path: Path) -> Course:
    """A copy of the course with one lesson, which a test may change."""
    made = copy_with_documents(course, tmp_path)
    for lesson in made.lessons():
        if lesson.name != LESSON:
            shutil.rmtree(lesson.folder)
    return made


# outputs of cells that need a solution


def cells_of(*sources: tuple[str, str]) -> list[LessonCell]:
    return [LessonCell(kind, "", text) for kind, text in sources]


@pytest.mark.parametrize(
    ("code", "depends"),
    [
        ("f(1)", True),
        ("a = 2\na", False),
        ("try:\n    a = f(1)\nexcept NotImplementedError:\n    pass", True),
        ("def g(x):\n    return f(x)", True),
        ("f = abs\nf(1)", False),
        ("c = 1\nc", False),
        ("c += 1", True),
        ("c", True),
        ("d", False),
    ],
)
def test_a_cell_that_uses_an_exercise_or_what_came_of_it_is_known(code: str, depends: bool) -> None:
    cells = cells_of(("exercise", "def f(x):\n    return x"), ("demo", "c = f(3)\nd = 4"), ("demo", code))
    assert needs_solution(cells) == [True, True, depends]


def test_a_local_name_hides_no_exercise() -> None:
    cells = cells_of(
        ("exercise", "def f(x):\n    return x"), ("demo", "def g():\n    f = 1\n    return f"), ("demo", "f(1)")
    )
    assert needs_solution(cells)[2]


# what its author is told


def test_a_lesson_that_has_changed_since_its_build_is_named(small: Course) -> None:
    lesson = small.lesson(LESSON)
    lesson.lesson_py.write_text(
        lesson.lesson_py.read_text("utf-8").replace("# %%\nscores", "# %%\nscores = 0\nscores", 1)
    )
    with pytest.raises(LessonError, match=f"not what the lesson says now. `lessons build --lesson {LESSON}` first"):
        lesson_page(lesson, {}, "")


def test_a_lesson_that_the_readme_leaves_out_is_named(small: Course) -> None:
    small.readme.write_text("# A course\n\nAbout it.\n\n| lesson |\n|---|\n| [1. Another](a.md) |\n")
    with pytest.raises(LessonError, match=r"README.md: its table of lessons lacks 2\. Queries, keys, values"):
        make_site(small)


def test_a_warning_of_sphinx_stops_it(small: Course) -> None:
    with (small.documents / "students.md").open("a") as page:
        page.write("\n[nowhere](instructors.md#nowhere)\n")
    done = subprocess.run([sys.executable, "-m", "autograder", "site"], cwd=small.root, capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search(r"error: The site was not made: .*students.md:\d+: WARNING: .*nowhere", done.stderr)


def test_without_sphinx_the_command_says_what_installs_it(small: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.authoring.site.find_spec", lambda _name: None)
    with pytest.raises(CourseError, match=r"`make site` installs it"):
        make_site(small)


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("[next](../02_b/02_b.ipynb)", "[next](02_b.ipynb)"),
        ("[start](../../docs/students.md#make)", "[start](../documents/students.md#make)"),
        ("[solved](../../solutions/01_a/lesson.py)", "solved"),
        ("[elsewhere](https://example.org/a)", "[elsewhere](https://example.org/a)"),
        ("`[a](b.md)` and ```\n[a](b.md)\n```", "`[a](b.md)` and ```\n[a](b.md)\n```"),
        ("x[0] (a)", "x[0] (a)"),
    ],
)
def test_links_lead_to_pages_of_the_site_or_become_text(text: str, becomes: str) -> None:
    assert relinked(text, "notebooks/01_a/01_a.ipynb", ADDRESSES) == becomes
