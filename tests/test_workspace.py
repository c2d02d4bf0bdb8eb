"""A student's workspace: lessons appear, new versions arrive, and no work is overwritten."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import PyFileConfigLoader

from autograder.__main__ import main
from autograder.authoring.bundle import zipped
from autograder.authoring.notebook import METADATA
from autograder.errors import CourseError
from autograder.paths import CONFIG_NAME, STUDENT_FOLDER, Course, find_course
from autograder.student import hand_in, workspace
from autograder.student.hand_in import reset
from autograder.student.release_record import read_release_record
from autograder.student.workspace import LAB_CONFIG, find_workspace, update_lessons

NOTEBOOK, CHECKS, INDEX = "notebooks/07_x/07_x.ipynb", "notebooks/07_x/checks.py", "notebooks/index.ipynb"
PACKED = "autograder/student/lessons.zip"
PRINTS = "notebooks/07_x/fingerprints.json"
FIRST = {PRINTS: b"{}", NOTEBOOK: b"first", CHECKS: b"first checks", INDEX: b"start"}
SECOND = {
    PRINTS: b"{}",
    NOTEBOOK: b"second",
    CHECKS: b"second checks",
    INDEX: b"new start",
    "notebooks/08_y/08_y.ipynb": b"y",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder, and beside it a package that carries the first release."""
    monkeypatch.setattr(workspace, "packed_lessons", lambda: tmp_path / PACKED)
    (tmp_path / PACKED).parent.mkdir(parents=True)
    release(tmp_path, FIRST)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.chdir(tmp_path / "home")
    return tmp_path / "home"


def release(root: Path, files: dict[str, bytes]) -> None:
    (root / PACKED).write_bytes(zipped(files))


def contents(course: Course, files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: (course.root / name).read_bytes() for name in files}


def test_where_there_are_no_lessons_they_get_a_folder_of_their_own(home: Path) -> None:
    course = find_workspace()
    assert course.root == home / STUDENT_FOLDER
    assert update_lessons(course) == [f"The lessons are in {course.root / 'notebooks'}."]
    assert contents(course, FIRST) == FIRST
    assert find_workspace() == course  # from the same place, it is found again
    assert update_lessons(course) == []


def test_in_an_unzipped_bundle_they_go_beside_the_package(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.parent)
    assert find_workspace() == Course(home.parent)


def test_without_packed_lessons_nothing_is_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "packed_lessons", lambda: home / "nothing.zip")
    with pytest.raises(CourseError, match="not inside the course's folder"):
        find_workspace()
    assert list(home.iterdir()) == []


def test_what_was_not_touched_follows_a_new_release(home: Path) -> None:
    course = find_workspace()
    update_lessons(course)
    release(home.parent, SECOND)
    update_lessons(course)
    assert contents(course, SECOND) == SECOND


def test_a_students_notebook_stays_and_the_new_version_is_announced_once(home: Path) -> None:
    course = find_workspace()
    update_lessons(course)
    (course.root / NOTEBOOK).write_bytes(b"mine")
    release(home.parent, SECOND)
    said = f"{NOTEBOOK} has a new version. You have worked in the old one, which stays; `lessons reset --lesson 07_x`"
    assert update_lessons(course)[0].startswith(said)
    assert contents(course, SECOND) == {**SECOND, NOTEBOOK: b"mine"}
    assert update_lessons(course) == []
    assert newer_in(course) == {"07_x"}


def newer_in(course: Course) -> set[str]:
    return read_release_record(course.release_record)[1]


def test_a_lesson_has_no_newer_version_once_that_was_taken(home: Path, monkeypatch) -> None:
    monkeypatch.setattr(hand_in, "packed_lessons", lambda: home.parent / PACKED)
    course = find_workspace()
    update_lessons(course)
    (course.root / NOTEBOOK).write_bytes(b"mine")
    release(home.parent, SECOND)
    update_lessons(course)
    reset(course, course.lesson("07_x"))
    assert newer_in(course) == set()
    (course.root / NOTEBOOK).write_bytes(b"mine again")
    update_lessons(course)
    assert newer_in(course) == set()


def test_in_a_folder_without_a_record_no_notebook_is_touched(home: Path) -> None:
    course = find_workspace()
    update_lessons(course)
    course.release_record.write_text("damaged")
    (course.root / NOTEBOOK).write_bytes(b"mine")
    release(home.parent, SECOND)
    update_lessons(course)
    assert contents(course, SECOND) == {**SECOND, NOTEBOOK: b"mine", INDEX: b"start"}


def start_page(text: str, output: str = "") -> bytes:
    """A start page with one cell of text, and one that has shown something."""
    shown = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    cells = [
        {"cell_type": "markdown", "source": text},
        {"cell_type": "code", "source": ["progress()"], "outputs": shown},
    ]
    return json.dumps({"cells": cells}).encode()


def test_a_start_page_that_was_run_follows_a_new_release_and_one_that_was_edited_stays(home: Path) -> None:
    course = find_workspace()
    release(home.parent, {**FIRST, INDEX: start_page("first")})
    update_lessons(course)
    course.index.write_bytes(start_page("first", output="run"))
    release(home.parent, {**SECOND, INDEX: start_page("second")})
    update_lessons(course)
    assert course.index.read_bytes() == start_page("second")
    course.index.write_bytes(start_page("edited"))
    release(home.parent, {**SECOND, INDEX: start_page("third")})
    update_lessons(course)
    assert course.index.read_bytes() == start_page("edited")


def test_the_start_page_shows_what_was_passed_before_anybody_runs_it(home: Path) -> None:
    prints = {"lesson": "07_x", "title": "7. X", "minutes": 45, "exercises": {"attend": {"points": 4}}}
    release(home.parent, {**FIRST, PRINTS: json.dumps(prints).encode(), INDEX: start_page("first")})
    course = find_workspace()
    update_lessons(course)
    course.index.with_name("progress.json").write_text('{"07_x": {"attend": "passed"}}')
    update_lessons(course)
    shown = json.loads(course.index.read_text())["cells"][1]["outputs"][0]["data"]
    assert "✓ attend passed" in shown["text/plain"]
    assert "attend</a> passed" in shown["text/html"]
    assert update_lessons(course) == []


def test_on_a_hub_nobody_else_reads_what_a_student_has(home: Path, started: list[list[str]], monkeypatch) -> None:
    (home / STUDENT_FOLDER).mkdir(mode=0o755)
    assert main(["hub"]) == 0
    for folder in (home / STUDENT_FOLDER, home.parent / "data" / "nbgrader_cache", home.parent / "ipython"):
        assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("error", [PermissionError, FileExistsError, OSError])
def test_what_is_not_a_users_own_keeps_no_lessons_from_them(home: Path, started, monkeypatch, error) -> None:
    def chmod(path: Path, mode: int) -> None:
        if path.name == "ipython":
            raise error("an administrator's")

    monkeypatch.setattr(Path, "chmod", chmod)
    assert main(["hub"]) == 0
    assert (home / STUDENT_FOLDER / NOTEBOOK).is_file()


def test_an_instructors_course_is_left_alone(home: Path) -> None:
    (home / CONFIG_NAME).touch()
    (home / "solutions").mkdir()
    assert update_lessons(find_workspace()) == []
    assert sorted(path.name for path in home.iterdir()) == [CONFIG_NAME, "solutions"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that this process would have become."""
    programs: list[list[str]] = []
    monkeypatch.setattr("os.execv", lambda _path, words: programs.append(words))
    return programs


def test_on_a_hub_the_lessons_are_there_before_the_server_starts(home: Path, started: list[list[str]]) -> None:
    assert main(["hub", "--ServerApp.port=1"]) == 0
    assert contents(Course(home / STUDENT_FOLDER), FIRST) == FIRST
    assert started == [[sys.executable, "-m", "jupyterhub.singleuser", "--ServerApp.port=1"]]


def test_on_a_hub_a_course_above_the_users_folder_is_not_theirs(home: Path, started: list[list[str]]) -> None:
    (home.parent / CONFIG_NAME).touch()
    assert main(["hub"]) == 0
    assert contents(Course(home / STUDENT_FOLDER), FIRST) == FIRST


def test_on_a_full_disk_the_hubs_server_starts_all_the_same(home: Path, started, monkeypatch, capsys) -> None:
    def full(_path: Path, _content: bytes) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert main(["hub"]) == 0
    assert "The lessons were not brought up to date: No space left on device" in capsys.readouterr().err
    assert len(started) == 1


def test_where_the_package_carries_no_lessons_the_hubs_server_does_not_start(home: Path, started, monkeypatch) -> None:
    monkeypatch.setattr(workspace, "packed_lessons", lambda: home / "nothing.zip")
    assert main(["hub"]) == 2
    assert started == []


def test_without_jupyterhub_the_message_says_where_it_is_missing(home: Path, started, monkeypatch, capsys) -> None:
    monkeypatch.setattr(workspace, "find_spec", lambda _name: None)
    assert main(["hub"]) == 2
    assert f"{sys.prefix} has no JupyterHub: `pip install jupyterhub` there" in capsys.readouterr().err
    assert started == []


def test_the_kernel_says_of_its_language_what_the_notebooks_say() -> None:
    start = (LAB_CONFIG / "kernel" / "same_language.py").read_text(encoding="utf-8")
    program = (
        f"class shell:\n    class kernel: pass\nget_ipython = lambda: shell\n{start}\nprint(shell.kernel.language_info)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(
        {name: METADATA["language_info"][name] for name in ("name", "file_extension", "mimetype")}
    )
    assert len(METADATA["language_info"]) == 3


def test_a_strangers_folder_with_a_start_page_is_no_course(tmp_path: Path) -> None:
    for name in ("notebooks/index.ipynb", "nbgrader_config.py", "notebooks/deep/er/x"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    with pytest.raises(CourseError, match="not inside the course's folder"):
        find_course(tmp_path / "notebooks" / "deep" / "er")


@pytest.fixture
def kernel_config(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path / "etc" / "ipython" / "ipython_config.py"


def test_an_administrators_configuration_is_left_alone_and_that_is_said(kernel_config: Path) -> None:
    kernel_config.parent.mkdir(parents=True)
    kernel_config.write_text("c = get_config()\n")
    (line,) = workspace.install_kernel_start()
    assert line.startswith(f"{kernel_config} is not this course's")
    assert kernel_config.read_text() == "c = get_config()\n"


def test_an_older_one_of_ours_is_brought_up_to_date(kernel_config: Path) -> None:
    kernel_config.parent.mkdir(parents=True)
    kernel_config.write_text('"""Installed into the environment\'s etc/ipython with the package: old."""\n')
    assert workspace.install_kernel_start() == []
    assert kernel_config.read_bytes() == (LAB_CONFIG / "kernel" / "ipython_config.py").read_bytes()


@pytest.mark.parametrize(("beside", "count"), [("fingerprints.json", 3), ("07_x/fingerprints.json", 3), ("other", 1)])
def test_kernels_beside_a_lesson_run_two_files_more(tmp_path: Path, monkeypatch, beside: str, count: int) -> None:
    path = tmp_path / beside
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    monkeypatch.chdir(tmp_path)
    config = PyFileConfigLoader("ipython_config.py", path=str(LAB_CONFIG / "kernel")).load_config()
    files = ["a-users.py"]
    if "exec_files" in config.InteractiveShellApp:
        files = config.InteractiveShellApp.exec_files.get_value(files)
    assert len(files) == count
