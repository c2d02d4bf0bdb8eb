"""Writing a lesson with a watch on it: every save is built and proved, and an error names its line in lesson.py."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.authoring import watch as watching
from autograder.authoring.template import start_lesson
from autograder.authoring.watch import build_and_prove, watch
from autograder.paths import Course, Lesson

NAME = "98_example"
Edit = Callable[[Path, str, str], int]


@pytest.fixture(scope="module")
def lesson(classroom: Course) -> Lesson:
    start_lesson(classroom, NAME)
    return classroom.lesson(NAME)


def only_line(lesson: Lesson) -> str:
    (line,) = build_and_prove(lesson, 1)
    return line


@pytest.fixture
def edit(lesson: Lesson) -> Iterator[Edit]:
    """Change a file of the lesson for one test; return the line that the new text is on."""
    kept = {
        path: path.read_text(encoding="utf-8") for path in (lesson.lesson_py, lesson.checks_py, *lesson.secret_files)
    }

    def change(path: Path, old: str, new: str) -> int:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    yield change
    for path, text in kept.items():
        path.write_text(text, encoding="utf-8")


def test_a_demonstration_that_stops_is_told_with_its_line(lesson: Lesson, edit: Edit) -> None:
    line = edit(lesson.lesson_py, "\n# %% hints", "\n# %%\nnothing = 0\n1 / nothing\n\n# %% hints")
    told = only_line(lesson)
    assert told == (
        f"solutions/{NAME}/lesson.py:{line + 3}: the solved lesson stops: ZeroDivisionError: division by zero. "
        "Fix the cell."
    )


def test_a_solution_that_fails_is_told_with_its_line(lesson: Lesson, edit: Edit) -> None:
    line = edit(lesson.lesson_py, "    ### END SOLUTION", "    ### END SOLUTION\n\n\nnothing.there")
    told = only_line(lesson)
    assert told == f"solutions/{NAME}/lesson.py:{line + 3}: NameError: name 'nothing' is not defined"


def test_every_save_is_built_and_proved_and_the_watch_goes_on_after_an_error(lesson: Lesson, edit: Edit) -> None:
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line.split(" (")[0])
        if len(lines) == 1:
            lesson.lesson_py.write_text(lesson.lesson_py.read_text().replace("# %% chekc ", "# %% check "))
        if line.startswith("proved"):
            raise KeyboardInterrupt

    edit(lesson.lesson_py, "## The idea\n", "## The idea\n#\n# Another sentence.\n")
    edit(lesson.lesson_py, "# %% check ", "# %% chekc ")
    with pytest.raises(KeyboardInterrupt):
        watch(lesson, 2, say)
    assert lines[1:] == ["saved again", f"built {NAME}", "proved"]
    assert "Another sentence." in (lesson.released_dir / lesson.notebook_name).read_text()


def test_what_is_to_fix_is_counted(lesson: Lesson, monkeypatch) -> None:
    monkeypatch.setattr(watching, "build", lambda _: None)
    monkeypatch.setattr(watching, "verify", lambda *_, **__: ["one", "two"])
    assert [line.split(" (")[0] for line in build_and_prove(lesson, 1)] == [f"built {NAME}", "one", "two", "2 to fix"]
