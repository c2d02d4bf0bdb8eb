"""The command line: one clear line for what the user can fix, an exit status, and nothing lost."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autograder
from autograder.__main__ import main
from autograder.authoring.build import generated
from autograder.classroom import commands
from autograder.classroom.demo import run_demo
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.preprocessors import GradeSubmission
from autograder.classroom.report import read_class
from autograder.errors import CourseError, command
from autograder.paths import Course

from .conftest import LESSON


@pytest.fixture
def here(scratch: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.chdir(scratch.root)
    return scratch


def said(capsys: pytest.CaptureFixture, *arguments: str) -> tuple[int, str]:
    status = main(arguments)
    shown = capsys.readouterr()
    return status, (shown.err or shown.out).strip()


@pytest.mark.parametrize("command", ["build", "verify", "grade", "feedback"])
def test_an_unknown_lesson_is_named_with_those_that_exist(here, capsys, command: str) -> None:
    known = ", ".join(lesson.name for lesson in here.lessons())
    status, line = said(capsys, command, "--lesson", "99_nothing")
    assert (status, line) == (2, f"error: There is no lesson '99_nothing'. Lessons: {known}.")


def test_outside_a_course_the_command_says_where_to_start(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    status, line = said(capsys, "grade")
    assert status == 2
    assert "is not inside the course's folder: run the command from there" in line
    assert "\n" not in line


def test_collecting_nothing_useful_is_told_and_fails(here, capsys) -> None:
    (here.root / "zips").mkdir()
    (here.root / "zips" / "notes.txt").write_text("hello")
    status, lines = said(capsys, "collect", "--lesson", LESSON, "--from", "zips")
    assert status == 1
    assert lines.splitlines() == ["left out   notes.txt: not a notebook", f"{LESSON}: 0 collected, 1 left out."]


def test_grading_without_submissions_loads_no_lesson_and_says_how_to_get_some(here, capsys, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.run.package_of", lambda lesson: pytest.fail(lesson.name))
    assert said(capsys, "grade") == (0, "No submissions. `lessons collect --lesson … --from …` brings them in.")


def test_feedback_without_grades_says_what_comes_first(here, capsys) -> None:
    assert said(capsys, "feedback") == (1, "Nothing is graded yet: `lessons grade` first.")


def test_a_build_over_an_edit_by_hand_is_one_line(here, capsys) -> None:
    path = next(iter(generated(here.lesson(LESSON))))
    path.write_text(path.read_text() + " ")
    status, line = said(capsys, "build", "--lesson", LESSON)
    assert status == 2
    assert "was edited by hand, so it was not overwritten. A change belongs in solutions/" in line
    assert "\n" not in line


def test_a_new_lesson_starts_from_the_template_and_is_proved(here, capsys) -> None:
    assert said(capsys, "lesson", "--lesson", "98_example")[0] == 0
    assert said(capsys, "build", "--lesson", "98_example") == (0, "built 98_example")
    status, problems = said(capsys, "verify", "--lesson", "98_example")
    assert (status, [line.split(": ")[1] for line in problems.splitlines()]) == (1, ["cells", "exercises"])  # too few


@pytest.mark.parametrize("name", ["position", "7_position", "07 position", "../07_x", ""])
def test_a_lesson_name_that_does_not_fit_is_refused(here, capsys, name: str) -> None:
    status, line = said(capsys, "lesson", "--lesson", name)
    assert status == 2
    assert "two digits, then small letters" in line


def test_a_lesson_that_exists_is_not_overwritten(here, capsys) -> None:
    status, line = said(capsys, "lesson", "--lesson", LESSON)
    assert (status, line) == (2, f"error: solutions/{LESSON} exists already. Choose another name.")


def test_the_demonstration_grades_a_made_up_class_and_leaves_the_course_alone(scratch: Course, package) -> None:
    lines = run_demo(scratch, scratch.lesson(LESSON), jobs=2)
    assert "11 graded, 0 need a person. 11 have questions to grade by hand, in Formgrader." in lines
    assert [line for line in lines if line.startswith("left out")]
    report = (scratch.build / "demo" / "coursework" / "reports" / f"{LESSON}.html").read_text()
    assert "0 with something to look at, 11 with questions to grade by hand, in Formgrader." in report
    assert not scratch.submitted.exists()
    demo = Course(scratch.build / "demo")
    with open_gradebook(demo) as gradebook:  # as Formgrader lists it
        assert [a.name for a in gradebook.assignments] == [LESSON]
    students = {s.name.split("_")[0]: s for s in read_class(demo, demo.lesson(LESSON))}
    assert students["kofi"].points == 0  # who claims that every comparison holds
    assert students["ines"].verdicts[package.key.exercises[0]]["unknown"]
    assert {bool(v["mistake"]) for s in students.values() for v in s.verdicts.values()} == {True, False}


def test_registering_says_what_it_is_doing(here, capsys) -> None:
    assert said(capsys, "register", "--lesson", LESSON) == (0, f"entering {LESSON} into the gradebook")


def test_an_option_that_no_command_has_is_refused(here, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["grade", "--no-browser"])
    assert "unrecognized arguments: --no-browser" in capsys.readouterr().err


@pytest.mark.parametrize(("variable", "value"), [("PATH", ""), ("JUPYTERHUB_USER", "ada")])
def test_where_a_terminal_does_not_find_it_a_command_is_named_by_its_path(
    tmp_path: Path, monkeypatch, variable: str, value: str
) -> None:
    assert command("grade") == "lessons grade"
    monkeypatch.setattr(sys, "executable", str(tmp_path.resolve() / "venv" / "bin" / "python"))
    monkeypatch.setenv(variable, value)
    assert command("grade") == f"{tmp_path.resolve()}/venv/bin/lessons grade"
    monkeypatch.chdir(tmp_path)
    assert command("grade") == "venv/bin/lessons grade"


def test_no_message_spells_a_command_by_itself() -> None:
    modules = Path(autograder.__file__).parent.rglob("*.py")
    spelled = [path.name for path in modules if re.search(r"`(make|lessons) [a-z]", path.read_text(encoding="utf-8"))]
    # `make site` also installs Sphinx; the board and the weights of GPT-2 are fetched by `lessons` alone
    assert sorted(spelled) == ["board.py", "gpt2.py", "site.py"]


@pytest.mark.parametrize("seed", [-1, 2**31, 99999999999999999999])
def test_a_seed_that_nothing_can_be_drawn_from_is_refused(seed: int) -> None:
    with pytest.raises(CourseError, match="choose a number from 1 to 2147483647"):
        GradeSubmission(seed=seed)


@pytest.mark.parametrize(("quota", "cores"), [("inf", 3), ("2.5", 2), ("0.5", 1)])
def test_jobs_are_as_many_as_the_processors_that_may_be_used(monkeypatch, quota: str, cores: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 5})
    monkeypatch.setattr(commands, "processors", lambda: float(quota))
    assert commands.available_cores() == cores


def test_to_import_the_command_line_takes_no_library_away() -> None:
    code = "import sys, autograder.__main__; print('rfc3987_syntax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
