"""What is read of a cell is what runs of it, also where IPython makes other Python of it than stands there."""

import time

import nbformat
import pytest

from autograder.authoring.sample_submissions import submission
from autograder.grading.grade import RECORD
from autograder.judging import syntax
from autograder.judging.allowed import CodeReader
from autograder.judging.parsing import BARE_MAGIC
from autograder.judging.syntax import Code

from .conftest import needs_sandbox
from .graded import graded, handed_in, points_in

RIGHT = "def attend(q): return q.exp()"
SWAP = "import autograder.judging.operators as o; o.note = print"
DEEP = "z = " + "-" * 3000 + "1"


def asked(*cells: str) -> str:
    return CodeReader(["import torch", RIGHT, *cells], [RIGHT, *cells]).question_elsewhere()


@pytest.mark.parametrize(
    "cell",
    [
        f">>> {SWAP}",
        f">>> x = 1\n... {SWAP}",
        f"In [1]: {SWAP}",
        f"x = 1\n   ...: {SWAP}",
        f"{SWAP}\n/print 1",
        f"{SWAP}\n;print 1",
        f"{SWAP}\n,print 1",
        "%time s = '''\\\n'''; exec('x = 1') #'''",
        f"%%debug\n{SWAP}",
        f"%% time\n{SWAP}",
        f"In [1]: %%time\n   ...: {SWAP}",
        f"%time --no-raise-error {SWAP}",
        "x = %time y = 1",
        "%config InlineBackend.rc = exec('x = 1')",
        "%config InteractiveShell.ast_transformers = [T()]",
        "from __future__ import barry_as_FLUFL",
        "get_ipython().run_line_magic('time', 'x = 1')",
        "... [print] = [exec]\nIn [1]: x",
    ],
)
def test_what_ipython_runs_is_read(cell: str) -> None:
    assert asked(cell)


@pytest.mark.parametrize(
    ("cell", "bound"),
    [
        ("In [1]: attend = torch.exp", {"attend"}),
        (">>> attend = torch.exp", {"attend"}),
        ("x = %time torch.exp(torch.ones(2))", {"x"}),
        ("%time x = 1", {"x"}),
        ("%%capture out\nx = 1", {"x"}),
        ("    x = 1\n    !ls\n    y = !ls", {"x", "y"}),
        ("if True:\n    %time\nx = print?", set()),
        ("pip install torch", set()),
        ("%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\nx = 1", {"x"}),
    ],
)
def test_ordinary_cells_with_magics_are_read_and_nobodys_business(cell: str, bound: set[str]) -> None:
    assert Code(cell).bound == bound
    assert asked(cell) == ""


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_a_cell_that_may_run_and_cannot_be_read_is_shown(error: type[Exception], monkeypatch) -> None:
    def fail(text: str) -> None:
        raise error

    unread = Code(f"{DEEP}\nx = 1")
    with monkeypatch.context() as patched:
        patched.setattr(syntax, "parse", fail)
        assert CodeReader([unread], [unread]).question_elsewhere() == "a cell cannot be read"
    assert asked("attend = (") == ""


@pytest.mark.parametrize("line", ["x = !echo (", "d['a'] = !echo (", "!echo '", "f( ?", "x = (", "%time )"])
def test_a_cell_full_of_odd_lines_is_not_read_for_ever(line: str) -> None:
    before = time.process_time()
    assert Code(f"{line}\n" * 3000).can_be_read
    assert time.process_time() - before < 10


@needs_sandbox
@pytest.mark.parametrize(
    "cell",
    [
        "d['a'] = !echo (\n" * 1000 + "print('it ran')",
        "%%html {print('it ran')}",
        "%env A {print('it ran')}",
        "#\u2028%pwd\u2028print('it ran')",
    ],
)
def test_what_is_not_read_does_not_run(package, right, cell: str) -> None:
    notebook = submission(package, right)
    notebook.cells.append(nbformat.v4.new_code_cell(cell, id="x"))
    made = graded(handed_in(package, notebook))
    shown = next(found["outputs"] for found in made["cells"] if found["id"] == "x")
    assert [output["text"] for output in shown if output.get("name") == "stdout" and output["text"] == "it ran\n"] == []
    assert points_in(made["metadata"][RECORD]) == package.key.points()


def test_a_cell_of_blanks_after_a_command_is_read_once() -> None:
    """The pattern of a bare `pip` went over them in every way there is: 12 s of the judge's time, not milliseconds."""
    cell = "pip x" + " " * 4900 + "\n" * 97_000 + "y"
    assert BARE_MAGIC.fullmatch(cell.strip()) is None
    assert BARE_MAGIC.fullmatch("pip install  torch") is not None
