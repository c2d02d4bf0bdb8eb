"""Feedback pages: they explain, and show nothing hidden."""

import contextlib
import json
import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.authoring.nbgrader_course import load_config
from autograder.authoring.notebook import read_notebook
from autograder.classroom import feedback
from autograder.classroom.feedback import at_most, make_feedback, make_page
from autograder.classroom.feedback_page import (
    ALT,
    LEFT_OUT,
    MOST_PAGE_BYTES,
    WITHOUT_ALT,
    FeedbackExporter,
    head_of_page,
)
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.rendering import CUT
from autograder.classroom.summary import (
    AGAIN,
    BY_HAND,
    COMMENTED,
    PASSED,
    SummaryRow,
    row,
    summary_cell,
    summary_rows,
)
from autograder.errors import CourseError
from autograder.grading.grade import RECORD
from autograder.paths import Course, Lesson

from .browser import chromium, needs_chromium
from .conftest import LESSON, OVER_QUERIES, copy_course


def page(course: Course, student: str) -> str:
    return course.feedback_page(course.lesson(LESSON), student).read_text(encoding="utf-8")


def test_everybody_who_has_handed_in_has_a_page_be_it_one_that_says_why_nothing_was_graded(reported: Course) -> None:
    made = {path.parent.parent.name for path in reported.feedback.glob(f"*/{LESSON}/{LESSON}.html")}
    assert made == {"=cmd_77", "broken", "fragile", "right_101", "two_mistakes", "unsolved"}
    assert "cannot be read" in page(reported, "broken")


def test_a_student_can_read_a_page_whatever_the_teachers_umask_is(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        page = feedback.write_notice(Course(tmp_path), Lesson(LESSON, tmp_path), "ada", {}, "It is too large.")
    finally:
        os.umask(before)
    assert page.stat().st_mode & 0o777 == 0o644


def test_a_page_names_the_kind_of_a_hidden_check_that_failed(reported: Course) -> None:
    assert "hidden check: scores in the thousands" in page(reported, "fragile").lower()
    assert "infinity over infinity is NaN" in page(reported, "fragile")


@pytest.mark.parametrize("student", ["two_mistakes", "right_101", "unsolved"])
def test_a_page_shows_nothing_hidden(reported: Course, student: str) -> None:
    text = page(reported, student)
    title = "cores in the thousands, above and below zero"
    for secret in (title, "def scores_of_a_thousand", "exp_without_care", "BEGIN SOLUTION"):
        assert secret not in text


def test_a_page_shows_no_rubric(reported: Course, package) -> None:
    (rubric,) = package.rubrics.values()
    assert "For the grader only" not in page(reported, "right_101")
    assert rubric.splitlines()[0][:60] not in page(reported, "right_101")


def test_a_page_is_what_nbconvert_would_have_made(reported: Course) -> None:
    path = reported.graded_notebook(reported.lesson(LESSON), "two_mistakes")
    config = load_config(reported.root)
    pages = [kind(config=config).from_filename(str(path))[0] for kind in (HTMLExporter, FeedbackExporter)]
    texts = [BeautifulSoup(text, "html.parser").get_text(" ").split() for text in pages]
    assert texts[0] == texts[1]
    assert len(texts[0]) > 1000


def test_a_picture_without_a_description_says_so() -> None:
    assert WITHOUT_ALT.sub(ALT, '<img src="a"><img alt="b" src="c">').count("<img alt=") == 2


def summary(text: str) -> list[str]:
    """Return the rows of the first table as text, which comes before the lesson's own title."""
    table = text[: text.index("</table>")]
    assert "<h1" not in table
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip() for row in table.split("<tr>")[2:]]


def test_a_page_begins_with_the_points_and_the_reasons(reported: Course, package) -> None:
    lines = summary(page(reported, "two_mistakes"))
    numbered = [f"2.{k} {name}" for k, name in enumerate(package.key.exercises, 1)]
    assert [" ".join(line.split()[:2]) for line in lines] == [*numbered, "question R2"]
    assert "2.1 project_qkv {0} of {0} all checks passed".format(package.key.points()["project_qkv"]) in lines
    (wrong,) = [line for line in lines if line.startswith("2.3 attend 0 of")]
    assert OVER_QUERIES in wrong
    assert lines[-1] == "question R2 0 of 2 no answer"


def test_the_summary_leads_to_cells_of_the_page(reported: Course) -> None:
    text = page(reported, "two_mistakes")
    places = re.findall(r'href="#([^"]+)"', text[: text.index("</table>")])
    assert places
    assert [place for place in places if f'name="{place}"' not in text] == []


def test_a_page_forbids_all_scripts_and_any_base_address_but_its_own(reported: Course) -> None:
    head = page(reported, "two_mistakes").partition("</head>")[0]
    policy, base = head.index("default-src 'none'"), head.index('<base target="_self"')
    assert policy < base  # JupyterLab's viewer writes an address into that element, which the policy then forbids
    assert "base-uri 'none'" in head[policy:base]
    assert 'name="viewport"' in head
    assert "@media (prefers-color-scheme: dark)" in head


def test_a_page_that_is_made_anew_says_when_it_was_graded_and_when_it_is_due(reported: Course, tmp_path: Path) -> None:
    course = copy_course(reported, tmp_path)
    lesson = course.lesson(LESSON)
    os.utime(course.graded_notebook(lesson, "unsolved"), (1.8e9, 1.8e9))
    with open_gradebook(course) as gradebook:  # as Formgrader does
        gradebook.update_or_create_assignment(LESSON, duedate="2027-01-16 12:00")
    make_page(course, lesson, "unsolved")
    assert "Due Sat 16 Jan 2027, 12:00 UTC." in page(course, "unsolved")
    assert "Graded Fri 15 Jan 2027, 08:00 UTC." in page(course, "unsolved")


def test_a_question_that_waits_is_not_shown_as_nothing() -> None:
    data = {"grade": True, "solution": True, "grade_id": "question_R1", "score": 0, "points": 2}
    check = {"grade": True, "solution": False, "grade_id": "check_attend", "score": 3, "points": 4}
    cells = [new_markdown_cell("", metadata={"nbgrader": each}) for each in (data, check)]
    notebook = new_notebook(cells=cells, metadata={RECORD: {"verdicts": {"attend": {"points": 3, "told": "No."}}}})
    shown = summary_cell(list(summary_rows(notebook, {"question_R1"}, {})), 1.0).source
    assert "2 of 4 points so far; the other 2 are not graded yet." in shown
    assert "– of 2" in shown
    assert "content: 'not graded yet'" in head_of_page(["question_R1"])


@pytest.mark.parametrize(
    ("points", "waits", "reason"), [(4, False, PASSED), (1.5, False, BY_HAND), (1.5, True, AGAIN), (0, True, AGAIN)]
)
def test_a_persons_points_for_an_exercise_are_told_from_those_of_its_checks(points, waits: bool, reason: str) -> None:
    data = {"grade": True, "solution": False, "grade_id": "check_attend", "score": points, "points": 4}
    cells = [new_markdown_cell("", metadata={"nbgrader": data})]
    record = {"verdicts": {"attend": {"passed": True, "points": 4}}}
    (line,) = summary_rows(
        new_notebook(cells=cells, metadata={RECORD: record}), {"check_attend"} if waits else set(), {}
    )
    assert (line.points, line.reason) == (points, reason)


def test_a_comment_takes_the_place_of_the_reason() -> None:
    data = {"grade": True, "solution": True, "grade_id": "question_R1", "comment": "Good.", "score": 1, "points": 2}
    cell = new_markdown_cell("An answer.", metadata={"nbgrader": data})
    (line,) = summary_rows(new_notebook(cells=[cell]), set(), {})
    assert (line.name, line.anchor, line.points, line.reason) == ("question R1", "comment-question_R1", 1, COMMENTED)
    assert "penalty for handing in late" in summary_cell([line], 0.5).source


def test_an_optional_exercise_has_no_points_in_the_summary() -> None:
    assert ">optional</td>" in row(SummaryRow("attend", "check_attend", 0, 0, "passed"))


def test_a_reason_cannot_become_a_tag() -> None:
    line = SummaryRow("attend", "check_attend", 0, 4, "<b>no</b> `a < b`")
    assert "&lt;b&gt;no&lt;/b&gt; <code>a &lt; b</code>" in row(line)


def test_text_that_would_take_long_to_read_is_cut(reported: Course) -> None:
    path = reported.graded_notebook(reported.lesson(LESSON), "fragile")
    notebook, kept = read_notebook(path), path.read_bytes()
    notebook.cells[0].source = "$a " * 500_000
    path.write_text(json.dumps(notebook), encoding="utf-8")
    made = make_feedback(reported, reported.lesson(LESSON))
    path.write_bytes(kept)
    assert (made.failed, len(made.pages)) == ({}, 6)
    assert CUT in page(reported, "fragile")


def test_a_page_that_would_be_too_large_keeps_what_checks_say_and_loses_texts_and_outputs(reported: Course) -> None:
    path = reported.graded_notebook(reported.lesson(LESSON), "two_mistakes")
    config, notebook = load_config(reported.root), read_notebook(path)
    told = next(verdict["told"] for verdict in notebook.metadata[RECORD]["verdicts"].values() if verdict["told"])
    notebook.cells.append(new_markdown_cell(f"[r]: http://{'x' * 7000}\n\n{'[r] ' * 1700}"))
    made = FeedbackExporter(config=config).from_notebook_node(notebook)[0]
    assert len(made) < MOST_PAGE_BYTES
    text = BeautifulSoup(made, "html.parser").get_text(" ")
    assert LEFT_OUT in text
    assert told.split("`")[0].strip() in text


def work_without_end() -> None:
    while True:
        pass


def test_a_page_that_takes_too_long_costs_its_author_the_page_alone(reported: Course, monkeypatch) -> None:
    real = feedback.make_page

    def ring_soon(*_: object) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(time, "thread_time", lambda: float("inf"))
            left, _ = signal.setitimer(signal.ITIMER_PROF, 0.01)
            assert 0 < left < feedback.PAGE_SECONDS + 1  # the clock has ticks
            work_without_end()

    slow = {"fragile": ring_soon}
    monkeypatch.setattr(feedback, "make_page", lambda c, lesson, s: slow.get(s, real)(c, lesson, s))
    made = make_feedback(reported, reported.lesson(LESSON))
    assert made.failed == {"fragile": feedback.TOO_SLOW}
    assert len(made.pages) == 5


def test_an_alarm_that_is_swallowed_comes_again() -> None:
    def swallows() -> None:
        with contextlib.suppress(CourseError):
            work_without_end()
        work_without_end()

    with pytest.raises(CourseError, match="longer than"), at_most(0.1):
        swallows()


def test_the_time_of_other_threads_is_not_a_pages() -> None:
    def busy() -> None:
        ends = time.process_time() + 0.5
        while time.process_time() < ends:
            pass

    with at_most(0.1):
        (other := threading.Thread(target=busy)).start()
        other.join()


@pytest.mark.slow
@needs_chromium
def test_a_page_can_be_read_in_the_dark_and_on_a_telephone(reported: Course) -> None:
    with chromium() as opened:
        opened.emulate_media(color_scheme="dark")
        opened.set_viewport_size({"width": 390, "height": 800})
        opened.goto(reported.feedback_page(reported.lesson(LESSON), "two_mistakes").as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390
        found = Axe().run(opened).response["violations"]
    assert [node["html"] for each in found if each["id"] == "color-contrast" for node in each["nodes"]] == []
