"""How much a submission may use."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of one submission.

    Args:
        cell_seconds: wall-clock time of one cell.
        check_seconds: wall-clock time of one check.
        reply_bytes: size of one message from the submission's process.
        output_bytes: what one cell may print and show.
    """

    cell_seconds: float = 30.0
    check_seconds: float = 20.0
    reply_bytes: int = 64 * 2**20
    output_bytes: int = 2 * 2**20
