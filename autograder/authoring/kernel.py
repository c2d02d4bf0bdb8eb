"""A kernel that stays while a lesson is written, so that the cells before an edit do not run again."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from ..errors import LessonError
from ..paths import Lesson
from .build import notebook_client, stopped
from .lesson import LessonCell
from .notebook import Notebook, code_cells


@dataclass(frozen=True)
class Ran:
    """What a code cell gave.

    Args:
        basis: all that this depends on, beside the cells before it.
        outputs: what it showed.
        count: its place in the order in which cells ran.
    """

    basis: str
    outputs: list[Any]
    count: int | None


class KeptKernel:
    """Runs a lesson's code cells in order, each once. A cell is one of them as long as its basis is the same.

    Whatever a notebook shows is from a single kernel that has run all of it from the top.

    Args:
        lesson: which one.
    """

    def __init__(self, lesson: Lesson) -> None:
        self.ran: list[Ran] = []
        self._lesson = lesson
        self._open = contextlib.ExitStack()
        self._place = Path()
        self._client: NotebookClient | None = None

    def __enter__(self) -> KeptKernel:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        self._open.close()
        self._client, self.ran = None, []

    def run(
        self, cells: list[LessonCell], notebook: Notebook, bases: Sequence[str], files: Mapping[str, bytes]
    ) -> Iterator[int]:
        """Run what has not run yet, and fill in a notebook's outputs. Yield after each cell how many have run.

        Whoever stops listening stops the run there; the next one goes on from that cell.

        Args:
            cells: the lesson.
            notebook: the same, without outputs.
            bases: of as many of its code cells as are to run.
            files: what lies beside the notebook while it runs.

        Raises:
            LessonError: a cell fails.
        """
        if [ran.basis for ran in self.ran] != list(bases[: len(self.ran)]):
            self.close()
        client = self._client
        if client is None:
            client = self._start(notebook)
            yield 0  # that took a second or more
        for name, content in files.items():
            write_if_new(self._place / name, content)
        client.nb = notebook
        client.reset_execution_trackers()
        places = code_cells(notebook)
        fill_in(notebook, self.ran)
        for place, basis in list(zip(places, bases, strict=False))[len(self.ran) :]:
            cell = notebook.cells[place]
            try:
                client.execute_cell(cell, place)
            except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
                self.close()  # what the cell did before it failed must not be there when it runs again
                raise LessonError(*stopped(self._lesson, cells, notebook, error)) from error
            self.ran.append(Ran(basis, cell.outputs, cell.execution_count))
            yield len(self.ran)

    def _start(self, notebook: Notebook) -> NotebookClient:
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        self._place = folder / self._lesson.name
        self._place.mkdir()
        self._client = notebook_client(notebook, folder, self._place)
        self._open.enter_context(self._client.setup_kernel())
        return self._client


def fill_in(notebook: Notebook, ran: Sequence[Ran]) -> None:
    """Put what the first code cells gave into a notebook."""
    for place, done in zip(code_cells(notebook), ran, strict=False):
        notebook.cells[place].outputs, notebook.cells[place].execution_count = done.outputs, done.count


def write_if_new(path: Path, content: bytes) -> None:
    """Write a file unless it holds this already: `check` looks at the time of its last change."""
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)
