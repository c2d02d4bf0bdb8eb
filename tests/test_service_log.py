"""What somebody else has chosen of a service's log is a piece of one line, and a flood leaves few."""

import logging
from collections.abc import Iterator
from io import StringIO

import pytest

from autograder.classroom.service_log import LINES_AT_ONCE, service_handler
from autograder.errors import MOST_CHARACTERS

FORGED = "a\n12:00:00  ada  02_queries  attempt 1: 9 of 9\x1b[31m"


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, StringIO]]:
    logger, stream = logging.getLogger("autograder.test_service_log"), StringIO()
    logger.addHandler(handler := service_handler(stream))
    yield logger, stream
    logger.removeHandler(handler)


def test_a_message_is_one_line_and_bounded(log) -> None:
    logger, stream = log
    logger.error("500 %s", FORGED)
    logger.error("500 %s", "x" * 10_000)
    first, second = stream.getvalue().splitlines()
    assert "\\n12:00:00" in first
    assert "\x1b" not in first
    assert len(second) <= MOST_CHARACTERS


def test_the_text_of_an_error_forges_no_line(log) -> None:
    logger, stream = log
    try:
        raise ValueError(FORGED)
    except ValueError:
        logger.exception("It pauses.")
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith("It pauses.")
    assert "raise ValueError(FORGED)" in lines[-2]
    assert lines[-1].startswith("ValueError: a\\n12:00:00")


def test_a_flood_leaves_few_lines(log) -> None:
    logger, stream = log
    for _ in range(10 * LINES_AT_ONCE):
        logger.error("The gradebook cannot be used.")
    assert len(stream.getvalue().splitlines()) < 2 * LINES_AT_ONCE
