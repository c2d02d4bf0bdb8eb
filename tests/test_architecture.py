"""Six layers and the arrows between them: imports inside functions count like all others."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent / "autograder"
LAYERS = ("judging", "student", "plot", "authoring", "grading", "classroom")
ANY = {*LAYERS, "paths", "errors"}
MAY_IMPORT = {
    "errors": set(),
    "paths": {"errors"},
    "judging": {"errors"},
    "student": {"judging", "paths", "errors"},
    "plot": {"errors"},
    "grading": {"judging", "errors"},
    "authoring": {"grading", "judging", "student", "paths", "errors"},
    "classroom": ANY,
    "checks": {"judging"},
    "__init__": {"student", "plot"},
    "__main__": {"student", "classroom", "paths", "errors"},
}
# libraries that a layer must do without: students have no nbgrader, and a worker has no gradebook
MAY_NOT_USE = {
    "judging": {"nbgrader", "nbconvert", "nbclient", "nbformat", "jupytext", "sqlalchemy", "matplotlib"},
    "student": {"nbgrader", "nbconvert", "jupytext", "sqlalchemy"},
    "plot": {"nbgrader", "nbconvert", "nbclient", "nbformat", "jupytext", "sqlalchemy"},
    "grading": {"nbgrader", "nbconvert", "nbclient", "jupytext", "sqlalchemy"},
}
ON_A_HUB = {"student.feedback"}  # asks nbgrader there, where students hand in through it, and nowhere else
GRAPH = grimp.build_graph(ROOT.name, include_external_packages=True, cache_dir=None)


def short(module: str) -> str:
    """Return a module's name within the package; a library's stays as it is."""
    return module.removeprefix(ROOT.name).lstrip(".") or "__init__"


OURS = {short(module): module for module in GRAPH.modules if module.partition(".")[0] == ROOT.name}
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}


def imported(module: str) -> set[str]:
    return set(map(short, GRAPH.find_modules_directly_imported_by(OURS[module])))


def reach(module: str) -> set[str]:
    """Return which of our modules a module imports, directly or through others."""
    return set(map(short, GRAPH.find_upstream_modules(OURS[module]))) & OURS.keys()


def layer_of(module: str) -> str:
    return module.split(".")[0]


def test_there_are_six_layers_and_few_modules_outside() -> None:
    assert {layer_of(name) for name in OURS} == MAY_IMPORT.keys()
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} == set(LAYERS)


def test_arrows_between_layers_point_one_way() -> None:
    pairs = [(name, other) for name in sorted(OURS) for other in sorted(imported(name) & OURS.keys())]
    allowed = {layer: {*others, layer} for layer, others in MAY_IMPORT.items()}
    assert [f"{a} -> {b}" for a, b in pairs if layer_of(b) not in allowed[layer_of(a)]] == []


def test_no_module_imports_itself_through_others() -> None:
    assert [name for name in OURS for other in imported(name) & OURS.keys() if name in reach(other)] == []


def test_only_the_front_door_imports_by_a_name_put_together_at_run_time() -> None:
    users = {n for n, p in MODULES.items() if re.search(r"(import_module|__import__)\(|runpy", p.read_text())}
    assert users <= {"__init__"}


def libraries(layer: str) -> set[str]:
    return set().union(*(imported(name) for name in OURS if layer_of(name) == layer and name not in ON_A_HUB))


@pytest.mark.parametrize("layer", MAY_NOT_USE)
def test_a_layer_does_without_libraries_that_are_not_its_business(layer: str) -> None:
    assert libraries(layer) & MAY_NOT_USE[layer] == set()


def test_what_lessons_import_pulls_in_nothing_of_the_instructors() -> None:
    code = "import sys; from autograder import check, plot, predict, progress, recap, reveal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded & {"nbgrader", "nbconvert", "nbclient", "jupytext", "sqlalchemy"} == set()
    layers = {name.split(".")[1] for name in done.stdout.split() if name.startswith("autograder.")}
    assert layers & {"authoring", "grading", "classroom"} == set()


@pytest.mark.parametrize("module", ["run", "serve", "shards", "preprocessors", "feedback", "report"])
def test_grading_a_class_reads_lessons_and_builds_none(module: str) -> None:
    """It has to read a lesson, from whose text the answer key and the notebook follow; it builds and proves nothing."""
    reading = {"lesson", "lesson_package", "nbgrader_course", "notebook"}
    of_others = {name for name in reach(f"classroom.{module}") if layer_of(name) in ("authoring", "student")}
    assert of_others <= {f"authoring.{name}" for name in reading} | {"student.titles", "student.telling"}


def test_the_judge_touches_no_files_and_starts_nothing() -> None:
    outside = {"os", "subprocess", "socket", "shutil", "tempfile", "urllib", "sqlite3", "multiprocessing"}
    assert libraries("judging") & outside == set()
    texts = {n: p.read_text() for n, p in MODULES.items() if layer_of(n) == "judging"}
    assert [n for n, text in texts.items() if re.search(r"\bopen\(|\.(read|write)_(text|bytes)\(", text)] == []


def test_what_runs_in_the_sandbox_knows_neither_grading_nor_reference() -> None:
    secret = {"judging.answer_key", "grading.grade", "grading.package", "grading.repair", "grading.outputs"}
    for name in ("grading.sandbox.fork_server", "grading.sandbox.server"):
        assert reach(name) & secret == set()


def test_few_modules_know_folders() -> None:
    folder = re.compile(r"(^|.*/)(solutions|notebooks|coursework|submitted|autograded|downloaded)(/.*)?")
    users = {n for n, p in MODULES.items() if any(map(folder.fullmatch, texts_used(p.read_text())))}
    assert users <= {"paths", "authoring.template"}


@pytest.mark.parametrize(
    "code", ['root / "coursework"', "folder = 'coursework/submitted'", 'f"{root}/coursework"', "f'{a}/notebooks/{b}'"]
)
def test_a_folder_is_seen_however_it_is_written(code: str) -> None:
    folder = re.compile(r"(^|.*/)(solutions|notebooks|coursework|submitted|autograded|downloaded)(/.*)?")
    assert any(map(folder.fullmatch, texts_used(code)))


def texts_used(source: str) -> list[str]:
    """Return a module's texts, docstrings left out; parts of f-strings one by one."""
    tree = ast.parse(source)
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in spoken)
    return [node.value for node in nodes if isinstance(node.value, str) and " " not in node.value]


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_says_what_it_is_for_and_what_it_may_import(layer: str) -> None:
    words = ast.get_docstring(ast.parse(MODULES[layer].read_text())) or ""
    assert re.search(r"\bimports?\b", words, re.I)
    for name in MAY_IMPORT[layer] & {"grading", "judging", "student"} if layer != "classroom" else ():
        assert f"`{name}`" in words


def test_no_lesson_is_named_in_the_machinery() -> None:
    lessons = [p.parent.name for p in (ROOT.parent / "solutions").glob("[0-9]*/lesson.py")]
    assert lessons
    assert [(n, lesson) for n, p in MODULES.items() for lesson in lessons if lesson in p.read_text()] == []


def test_nothing_is_pickled() -> None:
    unsafe = re.compile(r"\b(import|from) (c?pickle|cloudpickle|dill|marshal|shelve)\b|torch\.(load|save)\(")
    assert [n for n, p in MODULES.items() if unsafe.search(p.read_text())] == []


def test_a_function_has_at_most_30_lines() -> None:
    nodes = ((name, node) for name, path in MODULES.items() for node in ast.walk(ast.parse(path.read_text())))
    functions = [(n, node) for n, node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert [(name, node.name) for name, node in functions if code_lines(node) > 30] == []


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_what_threads_read_they_read_one_at_a_time() -> None:
    """Python's parser counts its depth for all threads together: `parsing.parse` has the lock."""
    layers = [ROOT / layer for layer in ("judging", "grading", "classroom")]
    texts = {path.name: path.read_text(encoding="utf-8") for layer in layers for path in layer.rglob("*.py")}
    assert {name for name, text in texts.items() if "ast.parse(" in text} == {"parsing.py"}
