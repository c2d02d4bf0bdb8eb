"""Writing a lesson with a watch on it: every save is built and proved, and an error names its line in lesson.py."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.authoring import watch as watching
from autograder.authoring.build import build, generated
from autograder.authoring.kernel import KeptKernel
from autograder.authoring.template import start_lesson
from autograder.authoring.watch import Watcher, watch
from autograder.paths import Course, Lesson

NAME = "98_example"


@pytest.fixture(scope="module")
def lesson(classroom: Course) -> Lesson:
    start_lesson(classroom, NAME)
    return classroom.lesson(NAME)


@pytest.fixture(scope="module")
def watcher(classroom: Course, lesson: Lesson) -> Iterator[Watcher]:
    """A watch that has seen the lesson once."""
    with Watcher(classroom, lesson, jobs=2) as made:
        assert said(made) == [f"built {NAME}", "proved"]
        yield made


def said(watcher: Watcher) -> list[str]:
    """Return what a round says, without seconds."""
    return [line.split(" (")[0] for line in watcher.round() if line]


@pytest.fixture
def edit(lesson: Lesson):
    """Change a file of the lesson for one test; return the line that the new text is on."""
    kept = {path: path.read_text(encoding="utf-8") for path in (lesson.text, lesson.checks, lesson.hidden)}

    def change(path: Path, old: str, new: str) -> int:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return text[: text.index(old)].count("\n") + 1

    yield change
    for path, text in kept.items():
        path.write_text(text, encoding="utf-8")


def contents(lesson: Lesson) -> dict[str, bytes]:
    return {lesson.shown(path): path.read_bytes() for path in generated(lesson)}


def test_an_edit_of_the_prose_runs_nothing_again_and_gives_what_a_build_gives(
    classroom: Course, lesson: Lesson, watcher: Watcher, edit, monkeypatch
) -> None:
    edit(lesson.text, "## The idea\n", "## The idea\n#\n# Another sentence.\n")
    with monkeypatch.context() as patched:
        patched.setattr(KeptKernel, "run", None)
        patched.setattr(watching, "graded_submission_problems", None)
        assert list(watcher.round())[-1].startswith("proved")
    quick = contents(lesson)
    assert "Another sentence." in (lesson.released / lesson.notebook).read_text()
    build(classroom, lesson)
    assert contents(lesson) == quick


def test_a_demonstration_that_stops_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.text, "\n# %% hints", "\n# %%\nnothing = 0\n1 / nothing\n\n# %% hints")
    (told,) = filter(None, watcher.round())
    assert told == (
        f"solutions/{NAME}/lesson.py:{line + 3}: the solved lesson stops: ZeroDivisionError: division by zero. "
        "Fix the cell."
    )


def test_what_is_not_python_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.text, "    ### END SOLUTION", "    return (\n    ### END SOLUTION")
    (told,) = filter(None, watcher.round())
    assert told == f"solutions/{NAME}/lesson.py:{line}: '(' was never closed. Fix the cell."


def test_a_solution_that_fails_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.text, "    ### END SOLUTION", "    ### END SOLUTION\n\n\nnothing.there")
    (told,) = filter(None, watcher.round())
    assert told == f"solutions/{NAME}/lesson.py:{line + 3}: NameError: name 'nothing' is not defined"


def test_a_header_that_means_nothing_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.text, "# %% check ", "# %% chekc ")
    (told,) = filter(None, watcher.round())
    assert told.startswith(f"solutions/{NAME}/lesson.py:{line}: the header `# %% chekc ")


def test_a_file_of_checks_that_fails_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    lines = lesson.checks.read_text().count("\n")
    edit(lesson.checks, lesson.checks.read_text(), lesson.checks.read_text() + "nothing.there\n")
    (told,) = filter(None, watcher.round())
    assert told == f"solutions/{NAME}/checks.py:{lines + 1}: NameError: name 'nothing' is not defined"


def test_every_save_is_a_round_and_the_watch_goes_on_after_an_error(
    classroom: Course, lesson: Lesson, watcher: Watcher, edit, monkeypatch
) -> None:
    monkeypatch.setattr(watching, "Watcher", lambda *_: watcher)
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        if len(lines) == 1:
            lesson.text.write_text(lesson.text.read_text().replace("# %% chekc ", "# %% check "))
        if line.startswith("proved"):
            raise KeyboardInterrupt

    edit(lesson.text, "# %% check ", "# %% chekc ")
    with pytest.raises(KeyboardInterrupt):
        watch(classroom, lesson, 2, say)
    assert [line.split(" (")[0] for line in lines[1:]] == ["saved again", f"built {NAME}", "proved"]


def test_a_file_that_is_still_being_written_is_waited_for(lesson: Lesson, edit, monkeypatch) -> None:
    texts = ["", lesson.text.read_text(encoding="utf-8") + "\n"]

    def write_next(_seconds: float) -> None:
        if texts:
            lesson.text.write_text(texts.pop(0), encoding="utf-8")

    monkeypatch.setattr("time.sleep", write_next)
    assert watching.settled(lesson) == watching.saved(lesson)
    assert texts == []
    assert lesson.text.read_text(encoding="utf-8").startswith("# %%")
