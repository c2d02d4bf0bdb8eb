"""The class report: a page and a table."""

import csv
import re
from dataclasses import replace
from datetime import datetime

from traitlets.config import Config

from autograder.classroom.board_state import Helped
from autograder.classroom.gradebook import open_gradebook, scores_by_student
from autograder.classroom.report import exercises_of, html_of, make_report, read_class, read_student, write_csv
from autograder.classroom.rules import rules_of
from autograder.paths import Course

from .conftest import LESSON

STUDENTS = ("=cmd_77", "broken", "fragile", "right_101", "two_mistakes", "unsolved")


def test_the_report_counts_as_the_gradebook_does(reported: Course, key) -> None:
    students = {s.name: s for s in read_class(reported, reported.lesson(LESSON))}
    assert tuple(sorted(students)) == STUDENTS
    most = sum(key.points().values())
    assert students["right_101"].points == most
    assert students["unsolved"].points == 0
    assert students["broken"].points is None
    assert students["two_mistakes"].verdicts["attend"]["mistake"] == "softmax_over_queries"
    for name in ("two_mistakes", "=cmd_77"):
        assert students[name].points == sum(v["points"] for v in students[name].verdicts.values())


def test_the_page_names_mistakes_people_and_reasons(reported: Course, key) -> None:
    page, _ = make_report(reported, reported.lesson(LESSON))
    html = page.read_text()
    assert "6 handed in, 5 graded, 1 with something to look at." in html
    message = next(m.message for m in key.mistakes if m.name == "softmax_over_queries")
    assert message.split(".")[0] in html
    row = next(line for line in html.splitlines() if "<code>softmax_over_queries</code>" in line)
    assert '<td class="number">2</td>' in row
    assert "cannot be read as a notebook" in html
    for link in re.findall(r'<a href="([^"]+)"', html):
        assert (page.parent / link).resolve().is_file()
    assert "http" not in html.replace("http-equiv", "")


def test_the_same_as_csv(reported: Course) -> None:
    _, table = make_report(reported, reported.lesson(LESSON))
    with table.open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"'=cmd_77", *STUDENTS[1:]}
    assert rows["two_mistakes"]["attend mistake"] == "softmax_over_queries"
    assert rows["broken"]["points"] == ""


def test_the_page_says_which_messages_helped(reported: Course, key) -> None:
    lesson = reported.lesson(LESSON)
    told = [("attend", "softmax_over_queries", 8, 2), ("attend", "repair", 1, 1), ("gone", "a", 1, 1)]
    helped = [Helped(*one) for one in told]
    assert "Messages that helped" not in html_of(lesson, key, [], exercises_of(key, []))
    html = html_of(lesson, key, [], exercises_of(key, []), helped)
    (row,) = [line for line in html.splitlines() if "2 (25%)" in line]
    assert key.messages("attend")["softmax_over_queries"].split(".")[0] in row
    assert "1 (100%)" in html
    assert "gone" not in html


def test_the_report_says_when_something_arrived_in_the_courses_own_time(reported: Course, key, tmp_path) -> None:
    lesson, rules = reported.lesson(LESSON), rules_of(Config(HandIn={"time_zone": "Europe/Berlin"}), LESSON)
    with open_gradebook(reported) as gradebook:
        score = scores_by_student(gradebook, LESSON)["right_101"]
    late = replace(score, timestamp=datetime(2026, 12, 1, 11, 30), seconds_late=3600.0)
    student = read_student(reported, lesson, "right_101", late, {}, rules)
    assert "<td>Tue 1 Dec 2026, 12:30 CET, 1 hour late</td>" in html_of(lesson, key, [student], [])
    write_csv(tmp_path / "report.csv", [], [student])
    (row,) = csv.DictReader((tmp_path / "report.csv").read_text(encoding="utf-8").splitlines())
    assert (row["handed in"], row["late"]) == ("Tue 1 Dec 2026, 12:30 CET", "1 hour")
