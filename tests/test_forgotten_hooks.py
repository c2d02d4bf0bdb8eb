"""What other cells have registered for libraries to call is gone before a check runs."""

import logging
from collections.abc import Iterator

import pytest

from autograder.grading.sandbox import server
from autograder.grading.sandbox.not_graded import forget_hooks


class Counting(logging.Handler):
    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1


@pytest.fixture
def handler() -> Iterator[Counting]:
    before = [(logger, vars(logger).copy()) for logger in (logging.root, *logging.root.manager.loggerDict.values())]
    yield Counting()
    for logger, kept in before:
        vars(logger).update(kept)


@pytest.mark.parametrize("name", ["", "matplotlib.of_this_test"])
def test_log_handlers_of_other_cells_are_gone(handler: Counting, name: str) -> None:
    logging.getLogger(name).addHandler(handler)
    forget_hooks()
    logging.getLogger(name).error("for nobody")
    assert handler.count == 0


def test_they_go_before_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    class GoneError(Exception):
        pass

    def stop() -> None:
        raise GoneError

    monkeypatch.setattr(server, "forget_hooks", stop)
    monkeypatch.setattr(server.builtins, "input", input)
    with pytest.raises(GoneError):
        server.run_check(None, {}, None)
