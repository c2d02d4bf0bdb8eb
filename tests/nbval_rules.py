"""How nbval judges notebooks here: solved ones by their stored outputs, released ones by what may fail in them.

In a released notebook every cell runs, outputs are not compared, and a check cell must fail with NotStarted and with
nothing else. A typo in a check cell stays red, and so does a check that passes unsolved.
"""

from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell

CELL_SECONDS = 60
ALLOWED = ["NotStarted"]


def pytest_configure(config: pytest.Config) -> None:
    """Give every cell a deadline; nbval's own is half an hour."""
    config.option.nbval_cell_timeout = CELL_SECONDS


def is_released(item: pytest.Item) -> bool:
    return isinstance(item, IPyNbCell) and "notebooks" in Path(item.path).parts


def is_check(item: IPyNbCell) -> bool:
    return item.cell.metadata.get("nbgrader", {}).get("grade", False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in filter(is_released, items):
        item.options["check"] = item.options["check_exception"] = False


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
