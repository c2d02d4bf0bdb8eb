"""How nbval judges notebooks here: solved ones by their stored outputs, released ones by what may fail in them.

In a released notebook every cell runs, and a check cell must fail with NotStarted and with nothing else. A typo in a
check cell stays red, and so does a check that passes unsolved. What the website shows below a cell is compared with
what comes out here, where nothing is solved: no solution had a part in it. The solved notebook of the same lesson need
not run such a cell once more, trainings above all, unless a cell that uses a solution takes something from it.
"""

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell

CELL_SECONDS, START_SECONDS = 1100, 600
LATE_SECONDS = 120  # for what a cell has shown to arrive, once the kernel says that it has ended; nbval's are 5
await_reply = RunningKernel.await_reply
ALLOWED = ["NotStarted"]
TEXT = ("prose", "hints", "question")
DRAWS = re.compile(r"torch\.rand\w*\((?!.*generator)")  # what comes out depends on all that was drawn before
RELEASED = pytest.StashKey[set[str]]()  # the names of the notebooks that are run as students get them
QUICK = "02_queries"  # the notebook that `make test` runs: it trains nothing


def pytest_configure(config: pytest.Config) -> None:
    """Give every cell and every start of a kernel a deadline; nbval's own are half an hour, and a minute."""
    config.option.nbval_cell_timeout = CELL_SECONDS
    config.option.nbval_kernel_startup_timeout = START_SECONDS
    RunningKernel.await_reply = await_late_reply
    config.addinivalue_line("markers", "slow: as in pyproject.toml")


def await_late_reply(kernel: RunningKernel, message: str, timeout: float) -> None:
    """Wait longer for a kernel's first answer than nbval, which gives up after 10 seconds."""
    await_reply(kernel, message, max(timeout, LATE_SECONDS))


def is_released(item: pytest.Item) -> bool:
    return isinstance(item, IPyNbCell) and "notebooks" in Path(item.path).parts


def is_check(item: IPyNbCell) -> bool:
    return item.cell.metadata.get("nbgrader", {}).get("grade", False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in (item for item in items if isinstance(item, IPyNbCell)):
        item.output_timeout = LATE_SECONDS
        if is_released(item) or QUICK not in item.path.name:
            item.add_marker(pytest.mark.slow)  # a build has run it, and CI runs it again
        if is_released(item):
            item.options["check_exception"] = False


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note which released notebooks are run, after what was deselected has gone."""
    session.config.stash[RELEASED] = {item.path.name for item in session.items if is_released(item)}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give a released cell the outputs to compare with: a lesson that was not built again fails, and no other."""
    if isinstance(item, IPyNbCell) and is_run_as_released(item):
        pytest.skip("no solution has a part in it: run and compared in the released notebook")
    if is_released(item):
        shown = on_the_site(Path(item.path).parent).get(item.cell_num)
        item.options["check"] = item.options["check"] and shown is not None
        if shown is not None:
            item.cell.outputs, item.cell.execution_count = shown, 1


@lru_cache
def on_the_site(folder: Path) -> dict[int, list[Any]]:
    """Return the outputs that the website shows of a released lesson, by the number of their code cell."""
    from autograder.authoring.lesson import read_lesson
    from autograder.authoring.notebook import read_notebook
    from autograder.authoring.site_pages import needs_solution, unsolved_outputs
    from autograder.paths import Lesson

    lesson = Lesson(folder.name, folder.parents[1])
    if not lesson.lesson_py.is_file():
        return {}
    cells = read_lesson(lesson)
    known = zip(
        read_notebook(lesson.solved_ipynb).cells, unsolved_outputs(lesson, cells), needs_solution(cells), strict=True
    )
    code = [(outputs, depends) for cell, outputs, depends in known if cell.cell_type == "code"]
    return {number: outputs for number, (outputs, depends) in enumerate(code) if outputs and not depends}


def is_run_as_released(item: IPyNbCell) -> bool:
    """Say whether a solved notebook's cell is one that its released notebook runs, too, and that nothing here needs."""
    both = not is_released(item) and item.path.name in item.config.stash[RELEASED]
    return both and item.cell_num in without_solutions(Path(item.path).parent)


@lru_cache
def without_solutions(folder: Path) -> set[int]:
    """Return the numbers of code cells in which no solution has a part, nor in any cell that takes something from them.

    The set-up, checks and exercises are none of them.
    """
    from autograder.authoring.lesson import read_lesson
    from autograder.authoring.notebook import solved_cell
    from autograder.authoring.site_pages import DEMONSTRATIONS, bound, mentioned, needs_solution
    from autograder.paths import Lesson

    lesson = Lesson(folder.name, folder.parents[1])
    cells = read_lesson(lesson) if lesson.lesson_py.is_file() else []
    code = [pair for pair in zip(cells, needs_solution(cells), strict=True) if pair[0].kind not in TEXT]
    found, wanted, drawn = set[int](), set[str](), False
    for number, (cell, depends) in reversed(list(enumerate(code))):
        body = ast.parse(solved_cell(cell).source).body
        needed = drawn or bool(wanted & set[str]().union(*map(bound, body)))
        if depends or needed or cell.kind not in DEMONSTRATIONS:
            wanted = wanted.union(*map(mentioned, body))
            drawn = (drawn or bool(DRAWS.search(cell.text))) and "manual_seed" not in cell.text
        else:
            found.add(number)
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    outcome = yield
    report = outcome.get_result()
    if call.when != "call" or not is_released(item) or not is_check(item):
        return
    errors = [o.ename for o in item.test_outputs or [] if o.output_type == "error"]
    if report.failed and errors == ALLOWED:
        report.outcome, report.wasxfail = "skipped", "not started"
    elif report.passed:
        report.outcome, report.longrepr = "failed", f"{item.cell.source} passes although nothing was solved"
