"""A service's log: whatever somebody else has chosen of it fits into a line, and nothing fills a disk."""

from __future__ import annotations

import logging
import traceback
from typing import Any, TextIO

from ..errors import escaped
from .board_messages import Allowance

LINES_AT_ONCE, LINES_PER_SECOND = 200, 0.1


class OneLine(logging.Formatter):
    """Writes a message as one line, and of an error where it was raised, and its text as one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's own name
        """Return the message, escaped and cut."""
        return escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's own name
        """Return an error without the values that Python's own text of it may hold."""
        _, error, frames = ei
        return "".join(traceback.format_tb(frames)) + escaped(f"{type(error).__name__}: {error}")


def service_handler(stream: TextIO | None = None) -> logging.Handler:
    """Return what writes a service's log, by default to where systemd or the hub takes it."""
    handler, allowance = logging.StreamHandler(stream), Allowance(LINES_AT_ONCE, LINES_PER_SECOND)
    handler.setFormatter(OneLine("%(asctime)s  %(message)s"))
    handler.addFilter(lambda _: allowance.spend("", 1))
    return handler
