"""How much a submission may use.

Times are processor times. As much time again may be spent asleep; see `meter`.
"""

from __future__ import annotations

from dataclasses import dataclass

ESCAPED = 6  # bytes that JSON writes for one character
BESIDE = 64 * 2**10  # bytes of what is around the outputs


@dataclass(frozen=True)
class Limits:
    """Limits of one submission.

    Args:
        cell_seconds: processor time of one cell.
        check_seconds: processor time of one check, with the black boxes that it calls.
        total_seconds: processor time of all cells and checks of a submission.
        memory_bytes: memory that one process may allocate.
        processes: how many processes and threads there may be at once.
        file_bytes: size of one file, and of all files together.
        open_files: how many files one process may have open.
        reply_bytes: size of one message from the submission's process.
        output_bytes: what one cell may print and show.
        clock_seconds: time by the clock of all cells and checks; only for runs of which no points come.
    """

    cell_seconds: float = 30.0
    check_seconds: float = 20.0
    total_seconds: float = 300.0
    memory_bytes: int = 1536 * 2**20
    processes: int = 64
    file_bytes: int = 64 * 2**20
    open_files: int = 256
    reply_bytes: int = 64 * 2**20
    output_bytes: int = 2 * 2**20
    clock_seconds: float = 1e9

    @property
    def cell_reply_bytes(self) -> int:
        """Size of one message with a cell's outputs."""
        return ESCAPED * self.output_bytes + BESIDE
