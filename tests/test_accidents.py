"""What runs in a notebook at home and not when graded is said so, and the exercise below it is graded as usual."""

import pytest

from autograder.grading.package import LessonPackage
from autograder.judging.values import Returned

from .conftest import needs_sandbox
from .graded import errors_in, handed_in, points_in, record_of
from .test_sandbox import A_NUMBER, CHECKS, PATIENT, isolated

pytestmark = needs_sandbox
ABOVE = {
    "!pip install einops": "`!pip install einops` is not run when graded.",
    "%pip install einops": "`%pip install einops` is not run when graded.",
    "!ls": "`!ls` is not run when graded.",
    "files = !ls\nassert list(files) == []": "`!ls` is not run when graded.",
    "files = %sx ls": "`%sx ls` is not run when graded.",
    "%timeit sum(range(10**6))": "`%timeit sum(range(10**6))` is not run when graded.",
    "%%time": "`%%time` is not run when graded.",
    "%%timeit -n 3": "`%%timeit -n 3` is not run when graded.",
    "%%capture shown": "`%%capture shown` is not run when graded.",
    "quit()": "`quit()` is not run when graded.",
    "exit()": "`quit()` is not run when graded.",
    "import sys\nsys.exit(3)": "SystemExit",
    "name = input('Your name? ')\nassert name == ''": "`input` is not run when graded.",
    "help(len)": "`help` is not run when graded.",
    "import os\nos.environ['PYTHONBREAKPOINT'] = 'os.abort'\nbreakpoint()": "`breakpoint` is not run when graded.",
    "import torch\n@torch.compile": "`torch.compile` is not run when graded.",
    "import torch\n@torch.compile(fullgraph=True)": "`torch.compile` is not run when graded.",
    "import torch\ntorch.nn.Linear(2, 2).compile()": "`compile` is not run when graded.",
    "from autograder import check\ncheck(double)": "NameError",
    "from autograder import check\ncheck(len)": "`check` is not run when graded.",
    "from autograder import progress\nprogress()": "`progress` is not run when graded.",
    "import einops": "`einops` is not installed where submissions are graded.",
    "from google.colab import drive": "`google` is not installed where submissions are graded.",
    "text = open('my_notes.txt').read()": "`my_notes.txt` is not there when graded: only the lesson's own files are.",
    "import torch\nmodel = torch.load('model.pt')": "`model.pt` is not there when graded",
    "import subprocess\nsubprocess.run(['nvidia-smi'])": "Error",
    "import urllib.request\nurllib.request.urlopen('http://localhost')": "Error",
    "import asyncio\nasyncio.run(asyncio.sleep(0))": "Error",
    "import asyncio\nawait asyncio.sleep(0)\nprint('later')": "later",
    "async def one(): return 'one'\nprint(await one())": "one",
    "import asyncio\nawait asyncio.sleep(1)": "Error",
    "assert double(1) == 2": "NameError",
    "1 / 0": "ZeroDivisionError",
}


@pytest.mark.parametrize("above", ABOVE)
def test_what_stops_or_is_left_out_above_a_definition_says_so_and_the_definition_counts(above: str) -> None:
    with isolated(PATIENT) as session:
        result = session.run(f"{above}\ndef double(x): return 2 * x")
        assert ABOVE[above] in str(result.outputs)
        outcome = session.check(A_NUMBER, (CHECKS, ""), seed=1)
    assert isinstance(outcome, Returned), outcome
    assert outcome.tree.equal(A_NUMBER.values(lambda x: 2 * x, seed=1).tree)


def test_only_the_first_error_of_a_cell_is_shown() -> None:
    with isolated(PATIENT) as session:
        result = session.run("rows = open('rows.txt')\ntext = rows.read()\nlines = text.split()\ncount = 3")
        assert errors_in(result) == ["FileNotFoundError"]
        assert errors_in(session.run("count")) == []


def test_a_function_that_asks_while_it_is_checked_is_told_that_nobody_types() -> None:
    with isolated(PATIENT) as session:
        session.run("def double(x): return float(input()) * x")
        assert "nobody does" in session.check(A_NUMBER, (CHECKS, ""), seed=1).text


def test_a_file_is_opened_by_its_name_and_by_no_number() -> None:
    with isolated(PATIENT) as session:
        session.run("with open('mine.txt', 'w') as f: print('21', file=f)")
        session.run("def double(x): return float(open('mine.txt').read()) * 2 * x / x")
        assert isinstance(session.check(A_NUMBER, (CHECKS, ""), seed=1), Returned)
        session.run("def double(x):\n    for n in range(64): open(n, 'r+b', closefd=False)")
        assert "by its name" in session.check(A_NUMBER, (CHECKS, ""), seed=1).text


@pytest.mark.parametrize(
    "above", ["%pip install einops", "from autograder import check", "weights = torch.load('mine.pt')"]
)
def test_an_exercise_below_an_accident_keeps_its_points(package: LessonPackage, right, above: str) -> None:
    code = {name: f"{above}\n{text}\n\ncheck({name})" for name, text in right.items()}
    assert points_in(record_of(handed_in(package, code))) == package.key.points()
