import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.authoring import build as building
from autograder.authoring import manifest
from autograder.authoring.build import build, generated
from autograder.authoring.lesson import read_lesson
from autograder.authoring.nbgrader_course import open_nbgrader
from autograder.authoring.notebook import notebook_text, read_notebook, tidy
from autograder.errors import EditedByHandError, LessonError
from autograder.paths import Course, Lesson, file_digest

from .conftest import LESSON


def without_pictures(path: Path) -> bytes:
    """Return a file's content; of a notebook, without its PNGs, which may differ between platforms."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    notebook = read_notebook(path)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = "a picture"
    return nbformat.writes(notebook).encode()


def contents(lesson: Lesson, read=Path.read_bytes) -> dict[str, bytes]:
    return {lesson.shown(path): read(path) for path in generated(lesson)}


@pytest.fixture(scope="module")
def rebuilt(classroom: Course) -> tuple[Lesson, dict[str, bytes]]:
    lesson = classroom.lesson(LESSON)
    build(lesson)
    return lesson, contents(lesson)


def test_what_is_committed_is_what_a_build_makes(course: Course, rebuilt) -> None:
    lesson, _ = rebuilt
    assert contents(lesson, without_pictures) == contents(course.lesson(LESSON), without_pictures)


def test_every_lesson_is_committed_as_built(course: Course) -> None:
    for lesson in course.lessons():
        sums = json.loads(lesson.manifest.read_text())
        assert set(sums) == {lesson.shown(path) for path in generated(lesson)}


def test_two_builds_are_byte_identical(classroom: Course, rebuilt) -> None:
    lesson, first = rebuilt
    build(lesson)
    assert contents(lesson) == first


def test_the_source_of_nbgrader_holds_only_what_may_be_released(rebuilt) -> None:
    lesson, _ = rebuilt
    names = {path.name for path in lesson.nbgrader_source_dir.iterdir()}
    assert names == {lesson.notebook_name, "checks.py", "fingerprints.json"}


@pytest.mark.parametrize("index", range(4))
def test_a_generated_file_that_was_edited_by_hand_is_not_overwritten(scratch: Course, index: int) -> None:
    lesson = scratch.lesson(LESSON)
    path, belongs = list(generated(lesson).items())[index]
    path.write_text(path.read_text() + " ")
    before = contents(lesson)
    with pytest.raises(EditedByHandError) as caught:
        build(lesson)
    assert lesson.shown(belongs) in str(caught.value)
    assert contents(lesson) == before


@pytest.mark.parametrize("stop", range(5))
def test_a_build_that_was_stopped_while_it_wrote_is_no_edit(scratch: Course, monkeypatch, stop: int) -> None:
    lesson = scratch.lesson(LESSON)
    lesson.lesson_py.write_text(lesson.lesson_py.read_text().replace("shares * norms", "norms * shares"))
    lesson.hidden_py.write_text(lesson.hidden_py.read_text().replace("# Attention\n", "# The second half\n"))
    notebook = read_notebook(lesson.solved_ipynb)
    writes, write = [], manifest.replace_bytes

    def interrupted(path: Path, content: bytes) -> None:
        if len(writes) == stop:
            raise KeyboardInterrupt
        writes.append(path)
        write(path, content)

    monkeypatch.setattr(building, "execute", lambda *_: notebook)
    monkeypatch.setattr(manifest, "replace_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(lesson)
    monkeypatch.setattr(manifest, "replace_bytes", write)
    build(lesson)
    assert manifest.read_sums(lesson.manifest) == {lesson.shown(p): file_digest(p) for p in generated(lesson)}
    assert not lesson.replacing.exists()


def test_a_build_that_cannot_write_the_release_has_written_nothing(scratch: Course, monkeypatch) -> None:
    lesson = scratch.lesson(LESSON)
    lesson.lesson_py.write_text(lesson.lesson_py.read_text().replace("shares * norms", "norms * shares"))
    before, notebook = contents(lesson), read_notebook(lesson.solved_ipynb)

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(building, "execute", lambda *_: notebook)
    with monkeypatch.context() as patched:
        patched.setattr(building, "released_notebook", full_disk)
        with pytest.raises(OSError, match="No space"):
            build(lesson)
    assert contents(lesson) == before
    build(lesson)


def test_a_progress_bar_is_no_output_of_a_lesson() -> None:
    bar, number = "  0%|          | 0/3600 [00:00<?, ?it/s]", "50% right"
    shown = [new_output("display_data", {"text/plain": text}) for text in (bar, number)]
    (cell,) = tidy(new_notebook(cells=[new_code_cell("train()", outputs=shown)])).cells
    assert [output.data["text/plain"] for output in cell.outputs] == [number]


def test_students_get_what_nbgrader_would_make_of_its_source(classroom: Course, rebuilt) -> None:
    lesson, _ = rebuilt
    folder = classroom.build / "by-nbgrader"
    database = f"sqlite:///{classroom.build / 'gradebook.db'}"
    nbgrader = open_nbgrader(classroom, db_url=database, release_directory=str(folder))
    assert nbgrader.generate_assignment(lesson.name, force=True)["success"]
    theirs = tidy(read_notebook(folder / lesson.name / lesson.notebook_name))
    assert notebook_text(theirs) == (lesson.released_dir / lesson.notebook_name).read_text()
    names = {path.name for path in (folder / lesson.name).iterdir()}
    assert names == {path.name for path in lesson.released_dir.iterdir()}


def test_an_exercise_that_no_check_belongs_to_is_named(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    for path in (lesson.checks_py, lesson.hidden_py):
        path.write_text(re.sub(r'@check\(\s*"copy_previous_qk"[^\n]*\n', "", path.read_text()))
    with pytest.raises(LessonError, match="no check belongs to copy_previous_qk"):
        build(lesson)


def released_text(course: Course, lesson: Lesson) -> str:
    return "".join(p.read_text(errors="replace") for p in (course.root / "notebooks").rglob("*") if p.is_file())


def test_students_get_no_solution_no_rubric_and_no_hidden_check(course: Course, package) -> None:
    given = released_text(course, course.lesson(LESSON))
    cells = read_lesson(course.lesson(LESSON))
    secrets = [c.text.split("### BEGIN SOLUTION\n")[1].split("### END")[0] for c in cells if c.kind == "exercise"]
    secrets += [c.text.splitlines()[0] for c in cells if c.kind == "question"]
    secrets += (
        [check.name for check in package.key.hidden]
        + [check.title for check in package.key.hidden]
        + ["BEGIN SOLUTION"]
    )
    assert [s for s in secrets if s in given] == []


ATTEND, QUESTION = "# %% exercise attend\n", "# %% question R2 [markdown]"
SOLVED = "    return weights @ value, weights\n    ### END SOLUTION\n"
TITLE = '    """Two queries, three keys: the output, then the weights."""\n'
DECLARED = '@check("attend", points=1, show=True)\ndef two_queries'
SLIPS = [
    (ATTEND, ATTEND, "# %% exercise project_qkv\n", "`# %% exercise project_qkv` is there twice."),
    (ATTEND, SOLVED, "", "exercise attend does not mark its solution."),
    (QUESTION, f"{QUESTION} points=2", QUESTION, "question R2 needs a whole number of points."),
    (QUESTION, f"{QUESTION} points=2", f"{QUESTION} points=two", "question R2 needs a whole number of points."),
    (
        QUESTION,
        f"{QUESTION} points=2",
        f"{QUESTION} points=3",
        "`# %% question R2` has points=3, and the prose says 2.",
    ),
    ("import torch\n", "import torch\n", "import torch as\n", "invalid syntax."),
    (DECLARED, TITLE, "", "ValueError: check two_queries_three_keys needs a docstring: students read it."),
    ("def attend(", "def attend(", "@nothing\ndef attend(", "NameError: name 'nothing' is not defined"),
    ("shares * norms", "shares * norms", "shares * norm", "the solved lesson stops: NameError: name 'norm'"),
    (
        "import torch\nfrom torch import Tensor\n\nfrom autograder.checks",
        "import torch\n",
        "import torcch\n",
        "ModuleNotFoundError: No module named 'torcch'",
    ),
]


@pytest.mark.parametrize(("at", "old", "new", "told"), SLIPS)
def test_a_slip_is_told_with_its_file_and_line(scratch: Course, at: str, old: str, new: str, told: str) -> None:
    lesson = scratch.lesson(LESSON)
    path = next(path for path in (lesson.checks_py, lesson.lesson_py) if at in path.read_text())
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(LessonError) as caught:
        build(lesson)
    line = text[: text.index(at)].count("\n") + 1
    assert str(caught.value).startswith(f"{lesson.shown(path)}:{line}: {told}")


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("lesson.py", "# %% check attend\n", "", "exercise attend has no check cell"),
        ("lesson.py", "# %% check attend", "# %% chekc attend", "`# %% chekc attend` means nothing"),
        ("lesson.py", ATTEND, "# %% exercise attends\n", "`# %% hints attend` belongs to no exercise"),
        ("lesson.py", "# %% setup", "# %%", r"lesson.py: there is no setup cell. Add `# %% setup`"),
        ("checks.py", '@check("attend"', '@check("attned"', "belongs to 'attned', which is not an exercise"),
    ],
)
def test_what_does_not_fit_together_is_named(scratch: Course, file: str, old: str, new: str, told: str) -> None:
    lesson = scratch.lesson(LESSON)
    path = lesson.folder / file
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(LessonError, match=told):
        build(lesson)
