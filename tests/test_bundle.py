"""What students are given: all they need, and nothing of the solutions, by content."""

import io
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.bundle import make_bundle
from autograder.errors import CourseError
from autograder.judging.check import load_module
from autograder.judging.modules import importable
from autograder.paths import Course, find_course
from autograder.student.workspace import LAB_CONFIG

from .conftest import MadeOnce
from .secrets_in import leaked_lines, leaked_secrets, secret_lines

PRINTABLE = re.compile(rb"[\t -~]{8,}")  # what can be read in a file that is no text


@pytest.fixture(scope="session")
def bundle(course: Course, made_once: MadeOnce) -> zipfile.ZipFile:
    def make(root: Path) -> None:
        subprocess.run(["git", "clone", "-q", str(course.root), str(root / "c")], check=True)
        changed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(changed, cwd=course.root, capture_output=True, check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            source = course.root / name
            if source.is_file():
                (root / "c" / name).parent.mkdir(parents=True, exist_ok=True)
                (root / "c" / name).write_bytes(source.read_bytes())
        subprocess.run(["git", "add", "-A"], cwd=root / "c", check=True)
        make_bundle(Course(root / "c"))

    return zipfile.ZipFile(Course(made_once("bundle", make) / "c").bundle)


@pytest.fixture(scope="session")
def wheel(bundle: zipfile.ZipFile, made_once: MadeOnce) -> Path:
    """What pip makes of the bundle, for a student and for a hub's image."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", str(bundle.filename), "--wheel-dir"]

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(folder)], check=True)

    return next(made_once("wheel", make).glob("*.whl"))


def texts(archive: zipfile.ZipFile, prefix: str = "") -> dict[str, str]:
    """Return every file's text, also of files in an archive inside."""
    found = {}
    for name in archive.namelist():
        content = archive.read(name)
        if name.endswith(".zip"):
            found |= texts(zipfile.ZipFile(io.BytesIO(content)), f"{name}/")
        else:
            text = b"\n".join(PRINTABLE.findall(content)) if b"\0" in content else content  # a model is no text
            found[prefix + name] = text.decode("utf-8", errors="replace")
    return found


def test_no_line_of_a_solution_is_inside(course: Course, bundle: zipfile.ZipFile) -> None:
    found = {name: leaked_lines(course, unescaped(text)) for name, text in texts(bundle).items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n")


def test_no_hidden_check_mistake_or_rubric_is_inside(course: Course, bundle: zipfile.ZipFile) -> None:
    everything = "\n".join(unescaped(text) for text in texts(bundle).values())
    assert leaked_secrets(course, everything, quoted=True) == []


def test_the_search_would_find_a_leak(course: Course) -> None:
    assert len(secret_lines(course)) > 40
    lesson = course.lessons()[1]
    assert leaked_lines(course, lesson.lesson_py.read_text(encoding="utf-8"))
    assert leaked_secrets(course, lesson.hidden_py.read_text(encoding="utf-8"), quoted=True)


def test_the_same_files_give_the_same_bytes_and_only_known_parts(bundle: zipfile.ZipFile, tmp_path: Path) -> None:
    names = bundle.namelist()
    assert {name.split("/")[1] for name in names} >= {
        *("autograder", "Makefile", "README.md", "LICENSE", "LICENSE-lessons")
    }
    assert not [name for name in names if "/notebooks/" in name]  # unzipped over an old copy, it overwrites no work
    assert not [n for n in names if "solutions" in n or "coursework" in n or "progress.json" in n or ".old-" in n]
    first = Path(bundle.filename)
    again = Course(shutil.copytree(first.parent.parent, tmp_path / "again"))  # other tests read the first meanwhile
    assert make_bundle(again).read_bytes() == first.read_bytes()


def test_students_get_the_layers_that_they_need_and_no_other(bundle: zipfile.ZipFile) -> None:
    parts = [name.split("/") for name in bundle.namelist()]
    modules = {"__init__.py", "__main__.py", "checks.py", "errors.py", "paths.py"}
    assert {p[2] for p in parts if p[1] == "autograder"} == {*modules, "judging", "plot", "student"}


def test_pip_installs_the_bundle_and_that_is_the_whole_setup(course: Course, wheel: Path, tmp_path: Path) -> None:
    installed, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    options = ["--quiet", "--no-deps", "--no-index", "--target", str(installed)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(wheel)], check=True)
    command = [sys.executable, "-m", "autograder", "update"]
    subprocess.run(command, cwd=home, env={**os.environ, "PYTHONPATH": str(installed)}, check=True)
    assert [lesson.name for lesson in find_course(home).lessons()] == [lesson.name for lesson in course.lessons()]
    assert find_course(home).index.is_file()
    kernel = {path.name for path in (installed / "etc" / "ipython").glob("*.py")}
    assert kernel == {path.name for path in (LAB_CONFIG / "kernel").glob("*.py")}


def test_a_wheel_of_the_bundle_holds_nothing_that_the_bundle_does_not(bundle: zipfile.ZipFile, wheel: Path) -> None:
    given, inside = {bundle.read(name) for name in bundle.namelist()}, zipfile.ZipFile(wheel)
    installed = [name for name in inside.namelist() if ".dist-info/" not in name]
    assert installed
    assert [name for name in installed if inside.read(name) not in given] == []


def test_checks_in_the_bundle_load(course: Course, bundle: zipfile.ZipFile) -> None:
    found = {Path(name): text for name, text in texts(bundle).items() if name.endswith(".py") and "/notebooks/" in name}
    checks = [path for path in found if path.name == "checks.py"]
    assert len(checks) == len(course.lessons())
    for path in checks:
        beside = [(other.name, text) for other, text in found.items() if other.parent == path.parent]
        with importable(beside, str(path.parent)):
            load_module(found[path], "checks.py")


def test_outside_of_git_nobody_guesses(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="not a git checkout"):
        make_bundle(Course(tmp_path))
