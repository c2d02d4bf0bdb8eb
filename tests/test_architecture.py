"""The borders between modules, and the size of what is between them."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "autograder"
MODULES = sorted(PACKAGE.rglob("*.py"))
STUDENT_SIDE = {"__init__", "card", "checks", "compare", "errors", "fingerprint", "home", "judge", "lessons", "plot"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path: Path) -> set[str]:
    """Return the package's own modules that a module imports when it is loaded."""
    package = name_of(path).split(".") if path.name == "__init__.py" else name_of(path).split(".")[:-1]
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            base = [part for part in base if part != "__init__"]
            if node.module:
                found.add(".".join([*base, node.module]))
            else:
                found |= {".".join([*base, alias.name]) for alias in node.names}
    return found


GRAPH = {name_of(path): imports_of(path) for path in MODULES}


def test_no_module_imports_itself_through_others() -> None:
    def reach(name: str, seen: frozenset[str]) -> set[str]:
        assert name not in seen, f"cycle through {name}"
        return {name}.union(*(reach(n, seen | {name}) for n in GRAPH.get(name, ())))

    for name in GRAPH:
        reach(name, frozenset())


@pytest.mark.parametrize("module", ["nbgrader", "nbconvert", "nbclient", "jupytext"])
def test_importing_the_students_part_pulls_in_nothing_of_the_instructors(module: str) -> None:
    code = f"import sys, autograder; sys.exit(int({module!r} in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_judge_is_pure() -> None:
    assert GRAPH["judge"] <= {"compare", "fingerprint", "values"}
    assert GRAPH["fingerprint"] == {"values"}


def test_few_modules_know_where_things_are() -> None:
    folders = re.compile(r'"(solutions|notebooks|coursework|submitted|autograded)"')
    users = {name_of(p) for p in MODULES if folders.search(p.read_text())}
    assert users <= {"bundle", "lessons", "places", "template"}


def test_the_sandbox_knows_neither_grading_nor_reference() -> None:
    inside = {n: imports for n, imports in GRAPH.items() if n.startswith("sandbox")}
    assert not set().union(*inside.values()) & {"kit", "judge", "grade", "course", "build"}


def test_no_lesson_is_named_in_the_machinery() -> None:
    lessons = [p.parent.name for p in (PACKAGE.parent / "solutions").glob("[0-9]*/lesson.py")]
    assert lessons
    named = [(p.name, lesson) for p in MODULES for lesson in lessons if lesson in p.read_text()]
    assert named == []


def test_nothing_is_pickled() -> None:
    assert [p.name for p in MODULES if re.search(r"import pickle|torch\.load|torch\.save", p.read_text())] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_has_at_most_200_lines_and_a_function_30(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 200
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
    assert [f.name for f in functions if code_lines(f) > 30] == []


def code_lines(function: ast.FunctionDef) -> int:
    """Count a function's lines without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0
