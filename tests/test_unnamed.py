"""Mistakes that nobody has named name themselves: the report groups them, and one command drafts the known mistake."""

import pytest

from autograder.__main__ import main
from autograder.authoring.draft import MESSAGE
from autograder.classroom.report import exercises_of, make_report, read_class, unnamed_mistakes
from autograder.classroom.run import grade_lesson
from autograder.paths import Course

from .conftest import LESSON

ODD = """
def attend(query, key, value):
    weights = (query @ key.mT * 0.731).softmax(dim=-1)
    return weights @ value, weights
"""
SAME = ODD.replace("weights", "w").replace("* 0.731", "* 731 / 1000")
OTHER = ODD.replace("0.731", "0.2")


@pytest.fixture(scope="module")
def graded(classroom: Course, hand_in, right) -> Course:
    for student, code in {"ada": ODD, "ben": SAME, "eve": OTHER, "fay": right["attend"]}.items():
        hand_in(classroom, student, {**right, "attend": code})
    grade_lesson(classroom, classroom.lesson(LESSON), jobs=2, options={"allow_unsandboxed": True})
    return classroom


def test_two_students_with_one_unlisted_mistake_are_one_group(graded: Course) -> None:
    students = read_class(graded, graded.lesson(LESSON))
    groups = unnamed_mistakes(graded, graded.lesson(LESSON), "attend", students)
    assert [[s.name for s in group.students] for group in groups] == [["ada", "ben"], ["eve"]]
    assert "0.731" in groups[0].example


def test_the_report_shows_them_with_the_command_that_names_them(graded: Course) -> None:
    page, _ = make_report(graded, graded.lesson(LESSON))
    text = page.read_text(encoding="utf-8")
    assert f"lessons mistake --lesson {LESSON} --exercise …" in text
    assert "query @ key.mT * 0.731" in text


def test_once_drafted_and_moved_the_mistake_is_known(graded: Course, package, monkeypatch) -> None:
    monkeypatch.chdir(graded.root)
    assert main(["mistake", "--lesson", LESSON, "--exercise", "attend", "--from", "ada"]) == 0
    lesson = graded.lesson(LESSON)
    moved = lesson.mistakes_py.read_text() + graded.drafts(lesson).read_text()
    lesson.mistakes_py.write_text(moved)
    grade_lesson(graded, lesson, jobs=2, force=True, options={"allow_unsandboxed": True})
    students = read_class(graded, lesson)
    told = {s.name: s.verdicts["attend"]["told"] for s in students}
    sure = MESSAGE.partition("? ")[2]  # the question gives way to the edit that passes
    assert {name for name, words in told.items() if sure in words} == {"ada", "ben"}
    (exercise,) = [e for e in exercises_of(package.key, students) if e.name == "attend"]
    assert sorted(s.name for s in exercise.mistakes["unnamed_1"]) == ["ada", "ben"]
