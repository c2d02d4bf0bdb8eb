"""Nothing of a submission is read, parsed, kept or shown before it is counted; what is too much costs itself alone."""

import ast
import copy
import gc
import json
import resource
import time
import tracemalloc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom import run, submissions
from autograder.classroom.run import grade_lesson
from autograder.classroom.submissions import why_not_gradable
from autograder.classroom.writer import write_notebook
from autograder.errors import SandboxError, SubmissionError
from autograder.grading.cells import BUDGET, read_cells
from autograder.grading.grade import RECORD, grade
from autograder.grading.outputs import MOST_OUTPUTS, MOST_OUTPUTS_OF_A_CELL, clean_outputs
from autograder.grading.package import Role
from autograder.grading.repair import repair_submission
from autograder.grading.sandbox.codec import (
    MOST_TENSORS,
    MOST_VALUES,
    pack,
    pack_outcome,
    unpack,
    unpack_outcome,
    unpack_result,
)
from autograder.grading.sandbox.limits import Limits
from autograder.grading.sandbox.session import SubmissionBudget
from autograder.grading.submission import Submission
from autograder.grading.untrusted import parse_json
from autograder.judging import syntax
from autograder.judging.syntax import Code, tokens_in
from autograder.judging.values import Other, Returned
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox

Notebook = dict[str, Any]
STATEMENTS = {
    "assignments": "a=a\n",
    "names": "a;",
    "calls": "a()\n",
    "minus": "-a;",
    "strings": "f'{a}'\n",
    "lambda": "lambda:0\n",
}


def handed_in(package, edits: dict[str, str] | None = None) -> Notebook:
    return json.loads(notebook_text(submission(package, edits or {})))


def code(source: str) -> Notebook:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def packed(notebook: Notebook) -> bytes:
    return json.dumps(notebook).encode()


def memory() -> int:
    """Return how much memory this process has had at most, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize("version", [3, 4])
def test_many_outputs_are_dropped_unread(package, right, version: int) -> None:
    """Jupyter stopped writing format 3 in 2015: its cells lie in worksheets, and a person has to ask for it again."""
    notebook, before = handed_in(package, right), memory()
    next(c for c in notebook["cells"] if c["cell_type"] == "code")["outputs"] = [{"output_type": "stream"}] * 60_000
    if version == 3:
        notebook = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": notebook["cells"]}]}
        with pytest.raises(SubmissionError, match="cannot be read as a notebook"):
            repair_submission(packed(notebook), package)
    else:
        cells = repair_submission(packed(notebook), package).cells
        assert next(c.source for c in cells if c.exercise == "attend") == right["attend"]
    assert memory() - before < 400  # to validate them would take gigabytes


@pytest.mark.parametrize("value", ["{}", "[]", '{"a":1}', '""', "[[]]"])
def test_small_values_without_end_are_counted_before_they_are_read(package, value: str) -> None:
    """A zip of two kilobytes holds two megabytes of `{},`, which took 0.9 s and 507 MB for each five of these."""
    content = b'{"cells": [' + f"{value},".encode() * (BUDGET.bytes // (len(value) + 1) - 10) + b"1]}"
    tracemalloc.start()
    with pytest.raises(SubmissionError, match="made of too many values"):
        read_cells(content, package)
    with pytest.raises(SandboxError, match="not a message"):
        unpack(len(content).to_bytes(4, "big") + content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(content)


def test_a_string_that_is_not_closed_is_not_read_for_minutes() -> None:
    cell = "x = '" + "\\'aaaaaaaaaaaaaaaaaaaaaaaaaaa" * 3300
    started = time.process_time()
    assert Code(cell).statements == []
    assert time.process_time() - started < 5  # it took 45 seconds


@pytest.mark.parametrize("text", ['"' * 10**6, '"' + '\\"' * 10**6, '"' + "\\" * 10**6])
def test_counting_takes_no_longer_for_texts_that_never_end(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="JSON"):
        parse_json(text.encode())
    assert time.process_time() - started < 20  # it took hours


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_cell_whose_code_takes_long_to_read_is_never_parsed(package, kind: str, monkeypatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(syntax, "read_statements", lambda source: (parsed.append(len(source)), [])[1])
    notebook = handed_in(package)
    notebook["cells"][2:2] = [code(STATEMENTS[kind] * (BUDGET.characters // len(STATEMENTS[kind])))]
    cells = repair_submission(packed(notebook), package)
    assert [cell.left_out for cell in cells.cells if cell.left_out]
    for cell in cells.own:
        cell.source.statements  # noqa: B018 - reads it
    assert max(parsed, default=0) < 10_000


def test_many_cells_share_one_budget_and_small_ones_after_them_are_kept(package) -> None:
    notebook = handed_in(package)
    large = [code(f"b{n};" + "a;" * (BUDGET.cell_tokens // 2 - 10)) for n in range(240)]
    notebook["cells"] += [*large, code("last = 1")]
    cells = [
        cell
        for cell in repair_submission(packed(notebook), package).cells
        if cell.role is Role.PLAIN and cell.kind == "code"
    ]
    own = [cell for cell in cells if cell.source not in package.code]
    read = [cell for cell in own if not cell.left_out]
    assert sum(tokens_in(cell.source) for cell in read) <= BUDGET.tokens
    assert read[-1].source == "last = 1"


@pytest.mark.parametrize("kind", STATEMENTS)
def test_code_has_no_more_than_a_few_nodes_for_a_word_or_sign(kind: str) -> None:
    source = STATEMENTS[kind] * 500
    assert sum(1 for _ in ast.walk(ast.parse(source))) < 5 * tokens_in(source)


def test_what_was_read_of_a_submission_goes_with_it(package, right) -> None:
    notebook = repair_submission(packed(handed_in(package, right)), package)
    (cell,) = (cell for cell in notebook.cells if cell.name == "attend")
    statement = weakref.ref(cell.source.statements[0])
    del notebook, cell
    gc.collect()
    assert statement() is None


def test_code_is_parsed_once_however_often_it_is_asked_for(monkeypatch) -> None:
    parsed = []
    monkeypatch.setattr(syntax, "read_statements", lambda source: (parsed.append(source), [])[1])
    source = Code("x = 1")
    for _ in range(3):
        syntax.parsed(source), syntax.as_code(source).defined, syntax.top_level_names(source)
    assert parsed == ["x = 1"]


def test_the_lessons_own_code_is_parsed_once_for_all_submissions(package) -> None:
    first, second = (repair_submission(packed(handed_in(package)), package) for _ in range(2))
    assert all(a.source is b.source for a, b in zip(first.code, second.code, strict=True))


@pytest.mark.parametrize("lines", ["x = !ls\n", "%time x = 1\n", "x?\n", "!ls\n", "x = %pwd\n"])
def test_a_cell_full_of_magics_is_read_in_one_go(lines: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert len(Code(lines * 2000).statements) == 2000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 5  # it took minutes


def test_code_under_a_cell_magic_that_runs_it_is_read() -> None:
    assert Code("%%time\nx = 1").bound == {"x"}
    assert Code("%%writefile y.py\nx = 1").bound == frozenset()


@needs_sandbox
def test_a_cell_that_is_too_large_says_so_and_the_others_are_graded(package, right) -> None:
    notebook = handed_in(package, {**right, "copy_previous_qk": "a=a\n" * 20_000})
    graded = json.loads(grade(Submission(packed(notebook), package, seed=5)))
    record = graded["metadata"][RECORD]
    assert record["flags"] == ["1 cell was too large and left out"]
    assert {name: v["points"] for name, v in record["verdicts"].items() if v["points"]} == {
        name: points for name, points in package.key.points().items() if name != "copy_previous_qk"
    }
    assert "This cell was not run: it holds" in json.dumps(graded)


@pytest.mark.parametrize("kind", ["code", "markdown"])
def test_a_text_that_is_too_long_is_cut_and_does_not_stop_the_rest(package, kind: str) -> None:
    notebook = handed_in(package)
    notebook["cells"].append({**code("x" * 4_000_000), "cell_type": kind})
    last = repair_submission(packed(notebook), package).cells[-1]
    assert "4,000,000 characters" in last.left_out
    assert len(last.source) < 3000


HALF = r"\ud800"


@needs_sandbox
@pytest.mark.parametrize(
    "edit",
    [
        "def attend(query, key, value):\n    raise ValueError(chr(0xD800))",
        "print(chr(0xD800))",
        "raise type('A' + chr(0xD800), (Exception,), {})(chr(0xDC00))",
        "def attend(query, key, value):\n    return {chr(0xD800): chr(0xDFFF)}",
    ],
)
def test_half_a_character_from_the_sandbox_is_graded_and_can_be_written(package, edit: str) -> None:
    text = grade(Submission(packed(handed_in(package, {"attend": edit})), package, seed=5))
    assert text.encode("utf-8")


@pytest.mark.parametrize("key", ["source", "id", "grade_id"])
def test_half_a_character_in_an_upload_is_graded_and_can_be_written(package, key: str) -> None:
    notebook = handed_in(package)
    cell = {"cell_type": "markdown", "source": "x", "metadata": {}}
    changes = {
        "source": {"source": ["HALF"]},
        "id": {"id": "HALF"},
        "grade_id": {"metadata": {"nbgrader": {"grade_id": "HALF"}}},
    }
    notebook["cells"].append({**cell, **changes[key]})
    content = packed(notebook).replace(b"HALF", HALF.encode())
    assert json.dumps(repair_submission(content, package).as_dict(), ensure_ascii=False).encode("utf-8")


def test_a_whole_character_that_is_escaped_stays(package) -> None:
    notebook = handed_in(package)
    notebook["cells"].append({"cell_type": "markdown", "source": "\U0001f600 \\ud800", "metadata": {}})
    assert repair_submission(packed(notebook), package).cells[-1].source == "\U0001f600 \\ud800"


@pytest.mark.parametrize("count", [-5, True, 1.5, 2**70, "1", None])
def test_a_forged_number_of_a_cell_is_no_number(count: object) -> None:
    assert unpack_result(pack({"outputs": [], "count": count})).count is None


def test_an_answer_of_too_many_values_is_named_and_its_process_goes_on() -> None:
    (name,) = through([list(range(MOST_VALUES + 1))])
    assert name == Other(f"list beyond {MOST_VALUES:,} values")


def test_of_too_many_tensors_the_first_are_taken() -> None:
    tree = through([torch.ones(1)] * (MOST_TENSORS + 5))
    assert sum(isinstance(item, Other) for item in tree) == 5


def test_a_block_that_lists_too_many_tensors_is_not_loaded() -> None:
    with pytest.raises(SandboxError):
        unpack_outcome(pack({"tree": {"list": []}, "ran": []}, {str(n): torch.ones(1) for n in range(10_000)}))


def through(value: object) -> Any:
    outcome = unpack_outcome(pack_outcome(Returned(value)))
    assert isinstance(outcome, Returned)
    return outcome.tree


@pytest.mark.parametrize("where", [{"raised": ["x"] * 9}, {"lost": {}}, {"tree": {"plain": 10**30}, "ran": []}])
def test_values_of_a_wrong_type_or_range_are_no_values(where: Notebook) -> None:
    try:
        outcome = unpack_outcome(pack(where))
    except SandboxError:
        return
    assert outcome == Returned(Other("int"))


def test_outputs_are_counted_in_a_cell_and_in_a_submission() -> None:
    shown = [{"output_type": "display_data", "data": {}, "metadata": {}}] * 3000
    assert len(clean_outputs(copy.deepcopy(shown))) == MOST_OUTPUTS_OF_A_CELL
    assert len(clean_outputs(copy.deepcopy(shown), 3)) == 3
    assert clean_outputs(shown, 0) == []
    assert MOST_OUTPUTS_OF_A_CELL < MOST_OUTPUTS


@needs_sandbox
def test_all_that_a_submission_shows_is_no_larger_than_what_may_be_handed_in() -> None:
    shown, budget = 0, SubmissionBudget(Limits())
    picture = {"output_type": "display_data", "data": {"image/png": "A" * (2**20)}, "metadata": {}}
    for _ in range(30):
        result = budget.read(pack({"outputs": [picture], "success": True, "count": 1}), Limits.output_bytes)
        shown += len(str(result.outputs))
    assert 2 * 2**20 < shown < BUDGET.bytes


def test_a_cell_that_shows_too_much_keeps_its_process(package) -> None:
    notebook = handed_in(package)
    notebook["cells"] += [code("kept = 1\nprint(chr(0x1F600) * 1_900_000)"), code("print('kept', kept)")]
    first, second = json.loads(grade(Submission(packed(notebook), package, seed=5)))["cells"][-2:]
    assert "process" not in json.dumps(first["outputs"])
    assert "".join(second["outputs"][0]["text"]) == "kept 1\n"


def refused(course: Course, hand_in, change: bytes) -> Path:
    path = hand_in(course, "ann", {})
    path.write_bytes(change)
    return path


@needs_sandbox
def test_what_cannot_be_read_is_read_once(scratch: Course, hand_in, monkeypatch) -> None:
    lesson = scratch.lesson(LESSON)
    path = refused(scratch, hand_in, b'{"cells": [' + b"0," * BUDGET.cells + b"0]}")
    first = grade_lesson(scratch, lesson)
    reads = []
    monkeypatch.setattr(run, "grade", lambda submission: reads.append(submission))
    monkeypatch.setattr(submissions, "repair_submission", lambda *given: reads.append(given))
    assert grade_lesson(scratch, lesson) == first
    assert why_not_gradable(scratch, lesson, "ann") == first[0].note
    assert (first[0].needs_person, reads) == (True, [])
    path.write_bytes(b"{}")
    assert grade_lesson(scratch, lesson)[0].note != first[0].note
    assert len(reads) == 1


@needs_sandbox
def test_what_the_report_could_not_read_is_not_new_to_grading(scratch: Course, hand_in, monkeypatch) -> None:
    lesson = scratch.lesson(LESSON)
    refused(scratch, hand_in, b"[" * 100_000)
    reason = why_not_gradable(scratch, lesson, "ann")
    monkeypatch.setattr(run, "grade", pytest.fail)
    (result,) = grade_lesson(scratch, lesson)
    assert (result.needs_person, result.note) == (True, reason)


def test_a_draft_never_stays(scratch: Course, hand_in) -> None:
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "ann", {})
    with pytest.raises(UnicodeEncodeError):
        write_notebook(scratch, lesson, "ann", "\ud800")
    assert list(scratch.graded_notebook(lesson, "ann").parent.iterdir()) == []
