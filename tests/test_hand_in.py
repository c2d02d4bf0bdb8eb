"""A student's commands: nothing is ever lost."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.errors import CourseError
from autograder.paths import Course
from autograder.student import hand_in
from autograder.student.hand_in import check_lesson, reset, submit

from .conftest import LESSON


@pytest.fixture
def copy(scratch: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A student's copy: the released lessons, and a package that carries them too."""
    packed = scratch.root / "lessons.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for lesson in scratch.lessons():
            path = lesson.released_dir / lesson.notebook_name
            archive.write(path, path.relative_to(scratch.root).as_posix())
    monkeypatch.setattr(hand_in, "packed_lessons", lambda: packed)
    return scratch


def write(course: Course, package, edits: dict[str, str]) -> Path:
    lesson = course.lesson(LESSON)
    path = lesson.released_dir / lesson.notebook_name
    path.write_text(notebook_text(submission(package, edits)), encoding="utf-8")
    return path


def test_a_reset_keeps_every_old_notebook(copy: Course, package, right) -> None:
    lesson = copy.lesson(LESSON)
    path = lesson.released_dir / lesson.notebook_name
    original = path.read_bytes()
    assert reset(copy, lesson) == [f"notebooks/{LESSON}/{LESSON}.ipynb is as it was released."]
    work = []
    for name in ("attend", "project_qkv"):
        work.append(write(copy, package, {name: right[name]}).read_bytes())
        (copy.index.parent / "progress.json").write_text(json.dumps({LESSON: {"attend": "passed"}, "x": {}}))
        lines = reset(copy, lesson)
        assert path.read_bytes() == original
        assert lines[1].startswith(f"Your work is in notebooks/{LESSON}/{LESSON}.old-")
    kept = sorted(lesson.released_dir.glob("*.old-*.ipynb"))
    assert [p.read_bytes() for p in kept] == work
    assert json.loads((copy.index.parent / "progress.json").read_text()) == {"x": {}}


def test_a_reset_takes_a_broken_notebook_out_of_the_way(copy: Course) -> None:
    lesson = copy.lesson(LESSON)
    path = lesson.released_dir / lesson.notebook_name
    path.write_text("half a noteb")
    with pytest.raises(CourseError, match="lessons reset"):
        submit(copy, lesson)
    reset(copy, lesson)
    assert (lesson.released_dir / f"{LESSON}.old-1.ipynb").read_text() == "half a noteb"
    path.unlink()
    reset(copy, lesson)
    assert path.is_file()


def test_without_the_released_notebook_nothing_changes(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    path = lesson.released_dir / lesson.notebook_name
    path.write_text("mine")
    with pytest.raises(CourseError, match="Nothing changed"):
        reset(scratch, lesson)
    assert path.read_text() == "mine"


def test_what_is_handed_in_is_the_notebook_and_what_is_open_is_said(copy: Course, package, right) -> None:
    lesson = copy.lesson(LESSON)
    path = write(copy, package, {"attend": right["attend"]})
    lines = submit(copy, lesson)
    assert lines == [
        f"Upload handin/{LESSON}.ipynb.",
        "Not started: project_qkv, attention_scores, copy_previous_qk.",
        "Not answered: question R2.",
    ]
    first = path.read_bytes()
    assert (copy.handin / f"{LESSON}.ipynb").read_bytes() == first
    submit(copy, lesson)
    assert len(list(copy.handin.iterdir())) == 1
    write(copy, package, right)
    assert submit(copy, lesson)[1:] == ["Not answered: question R2."]
    assert (copy.handin / f"{LESSON}.earlier-1.ipynb").read_bytes() == first


def test_an_optional_exercise_that_is_open_is_called_optional(copy: Course, package) -> None:
    path = write(copy, package, {})
    notebook = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = (c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "check_attend")
    cell["metadata"]["nbgrader"]["points"] = 0
    path.write_text(json.dumps(notebook), encoding="utf-8")
    line = submit(copy, copy.lesson(LESSON))[1]
    assert line == "Not started: project_qkv, attention_scores, attend (optional), copy_previous_qk."


def test_checks_in_a_terminal_say_what_they_say_in_a_notebook(copy: Course, package, right) -> None:
    lesson = copy.lesson(LESSON)
    path = write(copy, package, {"attend": right["attend"], "attention_scores": "def attention_scores(q, k)\n    pass"})
    before = path.read_bytes()
    lines, passed = check_lesson(lesson)
    assert not passed
    assert any(line.startswith("✓ attend: 2 of 2 checks passed") for line in lines), lines
    assert "○ project_qkv: not started" in lines
    assert any("SyntaxError" in line for line in lines)
    assert path.read_bytes() == before
    recorded = json.loads((copy.index.parent / "progress.json").read_text())
    assert recorded[LESSON]["attend"] == "passed"


def test_the_command_works_where_students_have_no_solutions(copy: Course, package, right) -> None:
    for folder in ("solutions", "nbgrader_config.py"):
        target = copy.root / folder
        subprocess.run(["rm", "-r", str(target)], check=True)
    command = [sys.executable, "-m", "autograder", "submit", "--lesson"]
    done = subprocess.run([*command, LESSON], cwd=copy.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Upload handin/{LESSON}.ipynb.")
    wrong = subprocess.run([*command, "99_nothing"], cwd=copy.root, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert LESSON in wrong.stderr
