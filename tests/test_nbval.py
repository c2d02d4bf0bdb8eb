"""Negative controls: what CI must turn red is red. One run of nbval judges a notebook for each of them."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbformat.v4 import new_output

from autograder.authoring.lesson import read_lesson
from autograder.authoring.notebook import notebook_text, read_notebook, solved_notebook
from autograder.paths import Course, Lesson

from .conftest import LESSON

pytestmark = pytest.mark.slow  # it is CI that runs the notebooks
# a kernel takes longer to start than a notebook to run, so there is one for all that is wrong in a released one
# by variant: where its kind is, how many checks it has, and what is changed to what, with the words that tell it
CHANGES = {
    "released": (
        "notebooks",
        3,
        {
            ('"keys @ q"', '"keys @ qq"'): "qq",
            ("check(project_qkv)", "chekc(project_qkv)"): "chekc",
            ("check(attention_scores)", "None"): "passes although nothing was solved",
        },
    ),
    "solved": ("solutions", 1, {("0.946, 0.002, 0.047", "0.945, 0.002, 0.047"): "0.945"}),
}
SITE = "site_shows_another_number"  # a lesson whose solved notebook, which the website shows, says what is not so
STALE = "not_built_since"  # a lesson whose solved notebook is another one's
Outcomes = dict[str, list[ET.Element]]


def place(course: Course, root: Path, variant: str) -> None:
    """Put a variant where its kind is, cut off after some checks, with the released files where they belong."""
    kind, count, changes = CHANGES[variant]
    released = shutil.copytree(course.root / "notebooks" / LESSON, root / "notebooks" / variant)
    (released / f"{LESSON}.ipynb").unlink()
    notebook = read_notebook(course.root / kind / LESSON / f"{LESSON}.ipynb")
    checks = [i for i, cell in enumerate(notebook.cells) if cell.source.startswith("check(")]
    notebook.cells = notebook.cells[: checks[count - 1] + 1]
    text = notebook_text(notebook)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (root / kind / variant).mkdir(parents=True, exist_ok=True)
    (root / kind / variant / f"{variant}.ipynb").write_text(text)


def place_lesson(course: Course, root: Path) -> None:
    """Put a lesson, cut off after its first demonstration, whose solved notebook shows another number."""
    lesson = Lesson(SITE, root)
    for path in (lesson.released_dir, lesson.folder):
        path.mkdir(parents=True)
    original = course.lesson(LESSON)
    text = original.lesson_py.read_text("utf-8")
    lesson.lesson_py.write_text(text[: text.index("# %%\nscores = ")] + "# %%\nscores = 1.5\nscores\n")
    solved = solved_notebook(read_lesson(lesson))
    (lesson.released_dir / lesson.notebook_name).write_text(notebook_text(solved))
    solved.cells[-1].update(outputs=[new_output("execute_result", {"text/plain": "1.25"})], execution_count=1)
    solved.cells[-1].metadata["tags"] = ["nbval-ignore-output"]  # it is the released one that must tell
    lesson.solved_ipynb.write_text(notebook_text(solved))


def place_stale(course: Course, root: Path) -> None:
    """Put a released lesson whose text has changed since its notebooks were made."""
    lesson = Lesson(STALE, root)
    shutil.copytree(root / "solutions" / SITE, lesson.folder)
    (lesson.folder / f"{SITE}.ipynb").rename(lesson.solved_ipynb)
    lesson.released_dir.mkdir()
    shutil.copy(root / "notebooks" / SITE / f"{SITE}.ipynb", lesson.released_dir / lesson.notebook_name)
    with lesson.lesson_py.open("a", encoding="utf-8") as text:
        text.write("\n# %%\n2.5\n")


@pytest.fixture(scope="module")
def outcomes(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """Run nbval once over all variants under the project's rules; return each one's cells."""
    root = tmp_path_factory.mktemp("nbval")
    for variant in CHANGES:
        place(course, root, variant)
    place_lesson(course, root)
    place_stale(course, root)
    (root / "conftest.py").write_text('pytest_plugins = ["tests.nbval_rules"]\n')
    (root / "tests").mkdir()
    for name in ("__init__.py", "nbval_rules.py"):
        shutil.copy(course.root / "tests" / name, root / "tests")
    command = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider", "--junitxml=cells.xml"]
    done = subprocess.run([*command, "solutions", "notebooks"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    found: Outcomes = {variant: [] for variant in (*CHANGES, SITE, STALE)}
    for cell in ET.parse(root / "cells.xml").iter("testcase"):
        found[cell.attrib["classname"].split(".")[1]].append(cell)
    return found


def messages(cells: list[ET.Element], kind: str) -> Iterator[str]:
    """Yield what is said about the cells that ended in a way: failure, or skipped."""
    return (f"{node.get('message')} {node.text}" for cell in cells for node in cell.iter(kind))


@pytest.mark.parametrize("variant", CHANGES)
def test_what_is_wrong_is_red_and_nothing_else(outcomes: Outcomes, variant: str) -> None:
    """That whole notebooks are green, CI shows with the lessons themselves."""
    failed, reasons = list(messages(outcomes[variant], "failure")), CHANGES[variant][2].values()
    assert len(outcomes[variant]) > 5
    assert [reason in why for reason, why in zip(reasons, failed, strict=True)] == [True] * len(reasons)


def test_a_check_that_is_not_started_is_neither_red_nor_green(outcomes: Outcomes) -> None:
    (skipped,) = messages(outcomes["released"], "skipped")
    assert "not started" in skipped


def test_another_number_than_the_site_shows_is_red(outcomes: Outcomes) -> None:
    (failed,) = messages(outcomes[SITE], "failure")
    assert "1.25" in failed


def test_a_lesson_that_was_not_built_again_is_red_and_stops_no_other(outcomes: Outcomes) -> None:
    errors = list(messages(outcomes[STALE], "error"))
    assert errors
    assert all("this is not what the lesson says now" in error for error in errors)
