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
from .test_architecture import reach


def test_of_the_interpreter_only_its_own_folders_are_in_view(tmp_path: Path, monkeypatch) -> None:
    for part in ("bin", "lib", "solutions", "coursework"):
        (tmp_path / part).mkdir()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    seen = launch.readable_folders()
    assert str(tmp_path / "lib") in seen
    assert not launch.is_in_view(tmp_path)
    assert not launch.is_in_view(tmp_path / "solutions")
    assert launch.is_in_view(tmp_path / "lib" / "course")


def test_what_is_installed_is_in_view() -> None:
    assert all(launch.is_in_view(folder / "course") for folder in launch.installed_folders())


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
    with pytest.raises(CourseError, match="--jobs 0"):
        grade_lesson(scratch, scratch.lesson(LESSON), jobs=0)


def test_bubblewrap_is_called_by_its_whole_path(monkeypatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/opt/conda/bin/{name}")
    assert launch.bubblewrap_command(["true"])[0] == "/opt/conda/bin/bwrap"


def inside(code: str) -> str:
    """Return what Python prints where submissions run."""
    command = launch.bubblewrap_command([launch.interpreter(), "-S", "-c", code])
    done = subprocess.run(command, env={}, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout


@needs_sandbox
def test_no_text_that_a_submission_can_read_names_the_checkout() -> None:
    """Files of .pth and of an editable install do, and so does the place of an environment in the checkout."""
    telling = [path for folder in launch.installed_folders() for p in launch.TELLING for path in folder.glob(p)]
    checkout = str(Path(launch.PACKAGE).parent)
    assert any(checkout in path.read_text() for path in telling), "this test needs an editable install"
    assert inside(NAMING.replace("CHECKOUT", checkout)) == "[]\n"


NAMING = """
import os, sys, sysconfig
found = [value for value in [*sys.path, sys.prefix, sys.executable, *os.environ.values()] if "CHECKOUT" in value]
for folder, _, names in (step for top in ("/packages", "/course", sys.base_prefix) for step in os.walk(top)):
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith((".py", ".pth", ".json", ".txt", ".cfg", "RECORD", "METADATA")):
            try:
                text = open(path, errors="replace").read()
            except OSError:
                continue
            found += [path] if "CHECKOUT" in text else []
print(found)
"""


@needs_sandbox
@pytest.mark.parametrize("layer", ["authoring", "classroom", "student.check", "grading.grade", "judging.nothing"])
def test_what_no_submission_imports_is_not_there(layer: str) -> None:
    code = f"try:\n    import autograder.{layer}\nexcept ModuleNotFoundError:\n    print('missing')"
    assert inside(code) == "missing\n"


@needs_sandbox
def test_all_that_is_bound_is_imported_by_the_server_or_a_lesson() -> None:
    """Outside of `judging`, whose every module a student has too."""
    bound = {path for name in launch.OWN for path in modules_of(launch.PACKAGE / name)}
    names = {".".join(path.relative_to(launch.PACKAGE).with_suffix("").parts) for path in bound}
    used = {name for start in STARTS for name in {start, *reach(start)}}
    assert used - {name.removesuffix(".__init__") for name in names} == set()
    assert {n for n in names - used if not n.startswith("judging.") and not n.endswith("__init__")} <= OUTSIDE


STARTS = ("grading.sandbox.fork_server", "grading.sandbox.server", "checks", "plot", "student.predict")
OUTSIDE = {
    f"grading.sandbox.{name}" for name in ("boxes", "bubblewrap", "meter", "pool", "session", "unsandboxed")
}  # of `__init__`


def modules_of(path: Path) -> list[Path]:
    return list(path.rglob("*.py")) if path.is_dir() else [path]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("bwrap: Unknown option --disable-userns", "too old, 0.8 or newer is needed"),
        ("bwrap: setting up uid map: Permission denied", "does not let bubblewrap make user namespaces"),
        ("bwrap: Can't find source path", "bubblewrap does not work here"),
    ],
)
def test_what_is_wrong_with_bubblewrap_is_said_in_words_that_help(words: str, told: str) -> None:
    assert told in launch.bwrap_error_text(words)
    assert words in launch.bwrap_error_text(words)


@pytest.mark.parametrize(("platform", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "riscv64")])
def test_elsewhere_there_is_no_sandbox(platform: str, machine: str, monkeypatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("platform.machine", lambda: machine)
    launch.unavailable_reason.cache_clear()
    try:
        assert platform in launch.unavailable_reason() or machine in launch.unavailable_reason()
    finally:
        launch.unavailable_reason.cache_clear()


def test_of_what_students_have_the_answers_prints_alone_are_not_beside_a_submission(course: Course, package) -> None:
    released = {path.name for path in course.lesson(LESSON).released_dir.iterdir() if path.is_file()}
    assert released - package.files.keys() == {f"{LESSON}.ipynb", "fingerprints.json"}
