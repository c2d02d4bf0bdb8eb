"""What students are given: all they need, and nothing of the solutions, by content."""

import io
import subprocess
import zipfile
from pathlib import Path

import pytest

from autograder.authoring.bundle import make_bundle
from autograder.authoring.lesson import BEGIN, END, read_lesson
from autograder.authoring.package import package_of
from autograder.errors import CourseError
from autograder.judging.check import load_module
from autograder.judging.modules import importable
from autograder.paths import Course

SHORTEST = 30  # characters; a shorter line of a solution can stand in a lesson's prose too


@pytest.fixture(scope="module")
def bundle(course: Course, tmp_path_factory) -> zipfile.ZipFile:
    root = tmp_path_factory.mktemp("clone")
    subprocess.run(["git", "clone", "-q", str(course.root), str(root / "c")], check=True)
    changed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(changed, cwd=course.root, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source = course.root / name
        if source.is_file():
            (root / "c" / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "c" / name).write_bytes(source.read_bytes())
    subprocess.run(["git", "add", "-A"], cwd=root / "c", check=True)
    return zipfile.ZipFile(make_bundle(Course(root / "c")))


def texts(archive: zipfile.ZipFile, prefix: str = "") -> dict[str, str]:
    """Return every file's text, also of files in an archive inside."""
    found = {}
    for name in archive.namelist():
        content = archive.read(name)
        if name.endswith(".zip"):
            found |= texts(zipfile.ZipFile(io.BytesIO(content)), f"{name}/")
        else:
            found[prefix + name] = content.decode("utf-8", errors="replace")  # a model is no text
    return found


def solution_lines(course: Course) -> set[str]:
    """Return every line between solution markers that is long enough to mean something."""
    lines, inside = set(), False
    for lesson in course.lessons():
        for line in lesson.text.read_text(encoding="utf-8").splitlines():
            inside = (inside or BEGIN in line) and END not in line
            if inside and BEGIN not in line and len(line.strip()) >= SHORTEST:
                lines.add(line.strip())
    return lines


def test_no_line_of_a_solution_is_inside(course: Course, bundle: zipfile.ZipFile) -> None:
    lines = solution_lines(course)
    assert len(lines) > 40
    allowed = demonstrated(course)
    leaks = {
        (name, line) for name, text in texts(bundle).items() for line in lines - allowed if line in unescaped(text)
    }
    assert leaks == set()


def demonstrated(course: Course) -> set[str]:
    """Return what lessons show outside of exercises: a later lesson may start from what an earlier one asked for."""
    shown = [
        c.text for lesson in course.lessons() for c in read_lesson(lesson) if c.kind in ("demo", "measured", "setup")
    ]
    shown += [path.read_text(encoding="utf-8") for lesson in course.lessons() for path in lesson.modules]
    return {line.strip() for text in shown for line in text.splitlines()}


def unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", "\n")


def test_no_hidden_check_mistake_or_rubric_is_inside(course: Course, bundle: zipfile.ZipFile) -> None:
    everything = "\n".join(unescaped(text) for text in texts(bundle).values())
    for lesson in course.lessons():
        key = package_of(lesson).key
        assert all(check.title not in everything for check in key.hidden)
        assert all(f'"""{mistake.message}' not in everything for mistake in key.mistakes)
        rubrics = [c.text.splitlines()[0] for c in read_lesson(lesson) if c.kind == "question"]
        assert rubrics or lesson == course.lessons()[0]  # the warm-up has no question
        assert all(line not in everything for line in rubrics)


def test_the_search_would_find_a_leak(course: Course, bundle: zipfile.ZipFile) -> None:
    lesson = course.lessons()[1]
    lines = solution_lines(course) - demonstrated(course)
    assert any(line in lesson.text.read_text(encoding="utf-8") for line in lines)


def test_the_same_files_give_the_same_bytes_and_only_known_parts(course: Course, bundle: zipfile.ZipFile) -> None:
    names = bundle.namelist()
    assert {name.split("/")[1] for name in names} >= {
        "notebooks",
        "autograder",
        "Makefile",
        "README.md",
        "originals.zip",
    }
    assert not [n for n in names if "solutions" in n or "coursework" in n or "progress.json" in n or ".old-" in n]
    first = Path(bundle.filename).read_bytes()
    assert make_bundle(Course(Path(bundle.filename).parent.parent)).read_bytes() == first


def test_students_get_the_rooms_that_they_need_and_no_other(bundle: zipfile.ZipFile) -> None:
    parts = [name.split("/") for name in bundle.namelist()]
    modules = {"__init__.py", "__main__.py", "checks.py", "errors.py", "paths.py"}
    assert {p[2] for p in parts if p[1] == "autograder"} == {*modules, "judging", "plot", "student"}


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
