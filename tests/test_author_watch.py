"""Writing a lesson with a watch on it: every save is built and proved, and an error names its line in lesson.py."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient

from autograder.authoring import watch as watching
from autograder.authoring.build import build, generated
from autograder.authoring.kernel import KeptKernel
from autograder.authoring.template import start_lesson
from autograder.authoring.watch import Watcher, watch
from autograder.grading.package import LessonPackage
from autograder.paths import Course, Lesson

from .conftest import LESSON

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


def contents(lesson: Lesson) -> dict[str, bytes]:
    return {lesson.shown(path): path.read_bytes() for path in generated(lesson)}


def test_an_edit_of_the_prose_runs_nothing_again_and_gives_what_a_build_gives(
    classroom: Course, lesson: Lesson, watcher: Watcher, edit, monkeypatch
) -> None:
    edit(lesson.lesson_py, "## The idea\n", "## The idea\n#\n# Another sentence.\n")
    with monkeypatch.context() as patched:
        patched.setattr(KeptKernel, "run", None)
        patched.setattr(watching, "graded_submission_problems", None)
        assert list(watcher.round())[-1].startswith("proved")
    quick = contents(lesson)
    assert "Another sentence." in (lesson.released_dir / lesson.notebook_name).read_text()
    build(classroom, lesson)
    assert contents(lesson) == quick


@pytest.fixture
def run_cells(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What kernels are given to run."""
    sources: list[str] = []
    run = NotebookClient.execute_cell

    def execute(client: NotebookClient, cell: Any, place: int) -> Any:
        sources.append(cell.source)
        return run(client, cell, place)

    monkeypatch.setattr(NotebookClient, "execute_cell", execute)
    return sources


def test_cells_before_an_edit_do_not_run_again_and_the_build_is_the_same(
    classroom: Course, lesson: Lesson, watcher: Watcher, edit, run_cells: list[str]
) -> None:
    edit(lesson.lesson_py, "# %% check row_means\n", "# %% check row_means\n\n# %%\nfirst = 1\nfirst\n")
    assert said(watcher) == [f"built {NAME}", "proved"]
    list(watcher.stand_by())
    run_cells.clear()
    edit(lesson.lesson_py, "first = 1\n", "first = 2\n")
    assert said(watcher) == [f"built {NAME}", "proved"]
    assert run_cells == ["first = 2\nfirst"]
    quick = contents(lesson)
    build(classroom, lesson)
    assert contents(lesson) == quick


def test_a_round_that_is_left_goes_on_where_it_was(lesson: Lesson, watcher: Watcher, edit, run_cells) -> None:
    edit(lesson.lesson_py, "[1.0, 2.0, 3.0]", "[1.0, 2.0, 4.0]")
    unfinished = watcher.round()
    next(unfinished)
    unfinished.close()
    assert said(watcher)[-1] == "proved"
    assert len(run_cells) == len(set(run_cells))


def test_an_edit_of_one_exercise_proves_that_one_and_then_the_lesson_as_a_whole(
    scratch: Course, edit, monkeypatch
) -> None:
    lesson, proofs = scratch.lesson(LESSON), []

    def prove(package: LessonPackage, _right: Any, wrong: list[Any], *_: Any, **__: Any) -> list[str]:
        proofs.append((package.source.exercises, bool(wrong)))
        return []

    monkeypatch.setattr(watching, "graded_submission_problems", prove)
    monkeypatch.setattr(watching, "key_problems", lambda *_: [])
    monkeypatch.setattr(KeptKernel, "run", lambda *_: iter(()))
    with Watcher(scratch, lesson, jobs=1) as made:
        everything = said(made) and proofs[0][0]
        text = lesson.lesson_py.read_text().replace("return query @ key.mT", "return (query @ key.mT)")
        lesson.lesson_py.write_text(text)
        assert said(made) == ["proved attention_scores", f"built {LESSON}", "proved"]
    assert proofs == [(everything, True), (("attention_scores",), True), (everything, False)]


def test_a_demonstration_that_stops_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.lesson_py, "\n# %% hints", "\n# %%\nnothing = 0\n1 / nothing\n\n# %% hints")
    (told,) = filter(None, watcher.round())
    assert told == (
        f"solutions/{NAME}/lesson.py:{line + 3}: the solved lesson stops: ZeroDivisionError: division by zero. "
        "Fix the cell."
    )


def test_what_is_not_python_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.lesson_py, "    ### END SOLUTION", "    return (\n    ### END SOLUTION")
    (told,) = filter(None, watcher.round())
    assert told == f"solutions/{NAME}/lesson.py:{line}: '(' was never closed. Fix the cell."


def test_a_solution_that_fails_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.lesson_py, "    ### END SOLUTION", "    ### END SOLUTION\n\n\nnothing.there")
    (told,) = filter(None, watcher.round())
    assert told == f"solutions/{NAME}/lesson.py:{line + 3}: NameError: name 'nothing' is not defined"


def test_a_header_that_means_nothing_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    line = edit(lesson.lesson_py, "# %% check ", "# %% chekc ")
    (told,) = filter(None, watcher.round())
    assert told.startswith(f"solutions/{NAME}/lesson.py:{line}: the header `# %% chekc ")


def test_a_file_of_checks_that_fails_is_told_with_its_line(lesson: Lesson, watcher: Watcher, edit) -> None:
    lines = lesson.checks_py.read_text().count("\n")
    edit(lesson.checks_py, lesson.checks_py.read_text(), lesson.checks_py.read_text() + "nothing.there\n")
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
            lesson.lesson_py.write_text(lesson.lesson_py.read_text().replace("# %% chekc ", "# %% check "))
        if line.startswith("proved"):
            raise KeyboardInterrupt

    edit(lesson.lesson_py, "# %% check ", "# %% chekc ")
    with pytest.raises(KeyboardInterrupt):
        watch(classroom, lesson, 2, say)
    assert [line.split(" (")[0] for line in (lines[1], *lines[-2:])] == ["saved again", f"built {NAME}", "proved"]


def test_a_file_that_is_still_being_written_is_waited_for(lesson: Lesson, edit, monkeypatch) -> None:
    texts = ["", lesson.lesson_py.read_text(encoding="utf-8") + "\n"]

    def write_next(_seconds: float) -> None:
        if texts:
            lesson.lesson_py.write_text(texts.pop(0), encoding="utf-8")

    monkeypatch.setattr("time.sleep", write_next)
    assert watching.settled(lesson) == watching.saved(lesson)
    assert texts == []
    assert lesson.lesson_py.read_text(encoding="utf-8").startswith("# %%")
