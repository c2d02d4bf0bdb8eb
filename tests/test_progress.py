"""The start page and what stands on it."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from nbgrader.utils import notebook_hash

from autograder.authoring.index import fresh_overview, index_text
from autograder.judging.verdict import Failure, Result, Verdict
from autograder.paths import Course
from autograder.student import progress as progress_module
from autograder.student.feedback import feedback_to_fetch
from autograder.student.progress import Overview, lesson_progress, news_of, progress, read_progress, record_progress
from autograder.student.sharing import Note
from autograder.student.titles import titles_in

RIGHT = Verdict("attend", (Result("title", 1, True, False),))
WRONG = Verdict("attend", (Result("title", 1, False, False),), Failure("title", "no"))
PRINTS = {
    "lesson": "07_x",
    "title": "7. X",
    "minutes": 45,
    "exercises": {"attend": {"points": 4}, "other": {"points": 1}},
}
TITLES = {"attend": "7.1 attend", "other": "7.2 other"}


@pytest.fixture
def lesson_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "07_x"
    folder.mkdir()
    (folder / "fingerprints.json").write_text(json.dumps(PRINTS))
    (tmp_path / "index.ipynb").write_text("{}")
    monkeypatch.chdir(folder)
    return folder


def test_what_check_records_is_one_file_beside_the_start_page(lesson_folder: Path) -> None:
    record_progress("attend", WRONG)
    record_progress("other", RIGHT)
    assert read_progress(lesson_folder.parent / "progress.json") == {"07_x": {"attend": "tried", "other": "passed"}}
    record_progress("attend", RIGHT)
    assert read_progress(lesson_folder.parent / "progress.json")["07_x"]["attend"] == "passed"
    assert sorted(p.name for p in lesson_folder.parent.iterdir()) == [
        ".progress.json.lock",
        "07_x",
        "index.ipynb",
        "progress.json",
    ]


@pytest.mark.parametrize("text", ["", "[]", "not json", '{"07_x": 3}', '{"07_x": {"attend": "great"}}', "null"])
def test_a_damaged_file_is_as_good_as_none(lesson_folder: Path, text: str) -> None:
    path = lesson_folder.parent / "progress.json"
    path.write_text(text)
    assert not read_progress(path).get("07_x")
    record_progress("attend", RIGHT)
    assert read_progress(path)["07_x"] == {"attend": "passed"}


def test_nothing_is_recorded_beside_the_solutions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record_progress("attend", RIGHT)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_does_not_stop_a_check(lesson_folder: Path, monkeypatch) -> None:
    path = lesson_folder.parent / "progress.json"

    def refused(*_: object, **_how: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_bytes", refused)
    record_progress("attend", RIGHT)
    assert not path.exists()


def test_two_kernels_that_record_at_once_both_do(lesson_folder: Path, monkeypatch) -> None:
    slow = progress_module.read_progress
    monkeypatch.setattr(progress_module, "read_progress", lambda path: (slow(path), time.sleep(0.05))[0])
    names = [f"exercise_{i}" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: record_progress(name, RIGHT), names))
    assert sorted(slow(lesson_folder.parent / "progress.json")["07_x"]) == names


def test_the_table_says_what_is_next_without_color() -> None:
    shown = Overview([lesson_progress(PRINTS, {"07_x": {"attend": "passed", "other": "tried"}}, titles=TITLES)])
    line, following = repr(shown).splitlines()
    assert line == "7. X (45 min) ████████░░ 4 of 5 points: ✓ 7.1 attend passed, 4 points; ✗ 7.2 other tried, 1 point"
    assert following == "Next: 7.2 other in lesson 7. X"
    html = shown._repr_html_()
    assert "<a href='07_x/07_x.ipynb'>7. X</a>" in html
    assert "✗ <a href='07_x/07_x.ipynb#cell-id=other'>7.2 other</a> tried, 1 point" in html
    assert "<span aria-hidden='true'>████████░░</span><br>4 of 5 points" in html
    done = Overview([lesson_progress(PRINTS, {"07_x": {"attend": "passed", "other": "passed"}})])
    assert "Everything that counts is passed." in repr(done)


def test_what_is_next_follows_what_was_begun_last_and_comes_back_to_what_was_skipped() -> None:
    first, second = PRINTS | {"lesson": "06_x", "title": "6. X"}, PRINTS
    passed = {"attend": "passed", "other": "passed"}

    def following(states: dict) -> str:
        return Overview([lesson_progress(prints, states) for prints in (first, second)]).following()

    assert following({}) == "Next: attend in lesson 6. X"
    assert following({"07_x": {"attend": "tried"}}) == "Next: attend in lesson 7. X"
    assert following({"07_x": passed}) == "Next: attend in lesson 6. X"
    assert following({"06_x": passed, "07_x": passed}) == "Everything that counts is passed."


def test_an_optional_exercise_is_no_next_one_and_counts_nothing() -> None:
    optional = PRINTS | {"exercises": {"attend": {"points": 4}, "other": {"points": 0}}}
    shown = Overview([lesson_progress(optional, {"07_x": {"attend": "passed"}}, titles=TITLES)])
    line, following = repr(shown).splitlines()
    assert line.endswith("4 of 4 points: ✓ 7.1 attend passed, 4 points; ○ 7.2 other not started, optional")
    assert following == "Everything that counts is passed."


def test_the_number_of_an_exercise_is_that_of_its_heading(course: Course) -> None:
    for lesson in course.lessons():
        cells = json.loads((lesson.released_dir / lesson.notebook_name).read_text(encoding="utf-8"))["cells"]
        titles = titles_in(lesson.released_dir / lesson.notebook_name)
        prints = json.loads(lesson.fingerprints_json.read_text(encoding="utf-8"))
        assert list(titles) == list(prints["exercises"])
        text = "\n".join("".join(cell["source"]) for cell in cells)
        numbers = list(dict.fromkeys(title.split()[0] for title in titles.values()))
        assert numbers == re.findall(r"^### Exercise (\S+):", text, re.M)


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', '{"cells": [{}]}', '{"cells": [3]}'])
def test_a_notebook_that_is_none_has_exercises_without_numbers(tmp_path: Path, text: str) -> None:
    (tmp_path / "07_x.ipynb").write_text(text)
    assert titles_in(tmp_path / "07_x.ipynb") == {}
    assert titles_in(tmp_path / "gone.ipynb") == {}


def test_every_link_of_the_start_page_leads_to_a_cell(course: Course) -> None:
    links = re.findall(r"href='([^'#]+)#cell-id=([^']+)'", fresh_overview(course)._repr_html_())
    assert len(links) > 3 * len(course.lessons())
    for path, cell_id in links:
        notebook = json.loads((course.index.parent / path).read_text(encoding="utf-8"))
        assert cell_id in [cell["id"] for cell in notebook["cells"]]


def test_the_start_page_shows_every_lesson(course: Course, monkeypatch, capsys) -> None:
    monkeypatch.chdir(course.index.parent)
    progress()
    shown = capsys.readouterr().out
    for lesson in course.lessons():
        title = json.loads((lesson.released_dir / "fingerprints.json").read_text())["title"]
        assert title in shown


def test_the_committed_start_page_is_the_built_one(course: Course) -> None:
    assert course.index.read_text(encoding="utf-8") == index_text(course)


def test_news_of_a_lesson_is_in_its_line(monkeypatch) -> None:
    shown = Overview([lesson_progress(PRINTS, {}, None, news_of("07_x", {"07_x"}, {"07_x"}))])
    assert "There is a new version of this lesson: `lessons reset --lesson 07_x`, in a terminal, takes" in repr(shown)
    assert "<code>lessons reset --lesson 07_x</code>" in shown._repr_html_()
    assert "New feedback: fetch it in the menu Nbgrader" in shown._repr_html_()
    assert news_of("07_x", {"08_y"}, set()) == []


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch) -> Path:
    """An exchange that a hub's user has handed in to once."""
    root, cache = tmp_path / "exchange", tmp_path / "cache"
    (root / "attention" / "feedback").mkdir(parents=True)
    submission = cache / "attention" / "ada+07_x+2026-11-22 14:45:53.000000 UTC"
    submission.mkdir(parents=True)
    (submission / "07_x.ipynb").write_text("{}")
    (submission / "submission_secret.txt").write_text("secret")
    settings = {"Exchange.root": root, "Exchange.cache": cache, "Exchange.assignment_dir": tmp_path / "notebooks"}
    settings |= {"CourseDirectory.course_id": "attention", "CourseDirectory.student_id": "ada"}
    (tmp_path / "nbgrader_config.py").write_text("".join(f"c.{name} = {str(v)!r}\n" for name, v in settings.items()))
    for name, value in (("JUPYTER_CONFIG_DIR", tmp_path), ("HOME", tmp_path), ("JUPYTERHUB_USER", "ada")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)
    return root


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")  # nbgrader's
def test_on_a_hub_the_start_page_knows_of_feedback_that_waits(exchange: Path, tmp_path: Path, monkeypatch) -> None:
    assert feedback_to_fetch() == set()
    name = notebook_hash(secret="secret", notebook_id="07_x")
    page = exchange / "attention" / "feedback" / f"{name}.html"
    page.write_text("graded")
    assert feedback_to_fetch() == {"07_x"}
    fetched = tmp_path / "notebooks" / "07_x" / "feedback" / "2026-11-22 14:45:53.000000 UTC" / "07_x.html"
    fetched.parent.mkdir(parents=True)
    fetched.write_text("graded")
    assert feedback_to_fetch() == set()
    page.write_text("graded again")
    assert feedback_to_fetch() == {"07_x"}
    monkeypatch.delenv("JUPYTERHUB_USER")
    assert feedback_to_fetch() == set()


def test_what_is_to_be_read_before_anything_is_sent_stands_above_the_table() -> None:
    shown = Overview([lesson_progress(PRINTS, {})], Note("Read this."))
    assert repr(shown).startswith("Read this.\n7. X")
    assert shown._repr_html_().index("Read this.") < shown._repr_html_().index("<table")
