"""What a sandbox lets a submission see, and what is said where there can be none."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.classroom.run import grade_lesson
from autograder.errors import CourseError
from autograder.grading import launch
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox


def test_of_an_environment_only_pythons_own_folders_are_in_view(tmp_path: Path, monkeypatch) -> None:
    for part in ("bin", "lib", "solutions", "coursework"):
        (tmp_path / part).mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    seen = launch.readable_folders()
    assert str(tmp_path / "lib") in seen
    assert not launch.is_in_view(tmp_path)
    assert not launch.is_in_view(tmp_path / "solutions")
    assert launch.is_in_view(tmp_path / "lib" / "course")


def test_usr_is_not_in_view_as_a_whole() -> None:
    assert not launch.is_in_view(Path("/usr/local/share/course"))
    assert not launch.is_in_view(Path("/usr/share/course"))


def test_a_course_among_pythons_folders_is_refused(scratch: Course, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.run.is_in_view", lambda folder: folder == scratch.root)
    with pytest.raises(CourseError, match="which submissions can read: move it"):
        grade_lesson(scratch, scratch.lesson(LESSON), options={"allow_unsandboxed": True})


def test_a_fork_server_that_cannot_be_started_leaves_nothing_open(monkeypatch) -> None:
    monkeypatch.setattr(launch, "bubblewrap_command", lambda command: ["/no/such/program"])
    before = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(FileNotFoundError):
        launch.launch()
    assert set(Path("/proc/self/fd").iterdir()) == before


def test_jobs_have_to_be_at_least_one(scratch: Course) -> None:
    with pytest.raises(CourseError, match="JOBS=0"):
        grade_lesson(scratch, scratch.lesson(LESSON), jobs=0)


def test_bubblewrap_is_called_by_its_whole_path(monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/conda/bin/{name}")
    assert launch.bubblewrap_command(["true"])[0] == "/opt/conda/bin/bwrap"


@needs_sandbox
def test_a_python_that_was_called_by_a_path_through_another_folder_starts(tmp_path: Path, monkeypatch) -> None:
    up = Path(*[".."] * (len(tmp_path.parts) - 1))
    monkeypatch.setattr(sys, "executable", f"{tmp_path}/{up}{sys.executable}")
    command = launch.bubblewrap_command([launch.interpreter(), "-c", "print('started')"])
    done = subprocess.run(command, env={}, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("started\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("bwrap: Unknown option --disable-userns", "too old, 0.8 or newer is needed"),
        ("bwrap: setting up uid map: Permission denied", "does not let bubblewrap make user namespaces"),
        ("bwrap: Can't find source path", "bubblewrap does not work here"),
    ],
)
def test_what_is_wrong_with_bubblewrap_is_said_in_words_that_help(words: str, told: str) -> None:
    assert told in launch.explained(words)
    assert words in launch.explained(words)


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "riscv64")])
def test_elsewhere_there_is_no_sandbox(platform: str, machine: str, monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("platform.machine", lambda: machine)
    launch.unavailable_reason.cache_clear()
    try:
        assert platform in launch.unavailable_reason() or machine in launch.unavailable_reason()
    finally:
        launch.unavailable_reason.cache_clear()
