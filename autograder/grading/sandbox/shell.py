"""A notebook's shell without a kernel: runs cells and records what they show."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Coroutine
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import InputRejected
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import SList
from traitlets.config import Config

from ...judging.guard import Guard
from ...judging.mediated import mediated
from ...judging.parsing import as_python, without_magic_around
from .not_graded import CELL_MAGICS, MAGICS, say, stay, why_not_here

ShellOutput = dict[str, Any]
TOO_MUCH: ShellOutput = {"output_type": "stream", "name": "stdout", "text": "\n[more output was left out]\n"}


class Recorder:
    """The outputs of one cell, in order, up to a number of bytes."""

    def __init__(self, most_bytes: int) -> None:
        self.outputs: list[ShellOutput] = []
        self._left = most_bytes

    def add(self, output: ShellOutput) -> None:
        """Record an output; what is over the limit is left out and said so."""
        if self._left < 0:
            return
        self._left -= len(str(output))
        if self._left < 0:
            output = dict(TOO_MUCH)
        last = self.outputs[-1] if self.outputs else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            self.outputs.append(output)


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of a cell."""

    def __init__(self, recorder: Recorder, name: str) -> None:
        self._recorder, self._name = recorder, name

    def write(self, text: str) -> int:
        """Record printed text."""
        self._recorder.add({"output_type": "stream", "name": self._name, "text": str(text)})
        return len(text)


class Publisher(DisplayPublisher):  # type: ignore[misc]
    """Records what `display` shows."""

    def publish(self, data: Any, metadata: Any = None, **_options: Any) -> None:
        """Record one display."""
        self.shell.recorder.add({"output_type": "display_data", "data": data, "metadata": metadata or {}})

    def clear_output(self, wait: bool = False) -> None:
        """Forget what the cell has shown so far."""
        self.shell.recorder.outputs.clear()


class Hook(DisplayHook):  # type: ignore[misc]
    """Records a cell's last value."""

    def write_output_prompt(self) -> None:
        """Print no prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Record the value's representations."""
        output = {"output_type": "execute_result", "data": format_dict, "metadata": md_dict or {}}
        self.shell.recorder.add({**output, "execution_count": self.shell.execution_count})

    def finish_displayhook(self) -> None:
        """Print no newline."""


def to_its_end(cell: Coroutine[Any, Any, Any]) -> Any:
    """Run a cell that awaits something, without a loop of events, for which there is no socket here."""
    while True:
        try:
            cell.send(None)
        except StopIteration as end:
            return end.value


class GradingShell(InteractiveShell):  # type: ignore[misc]
    """IPython without terminal, history or kernel."""

    def __init__(self, **options: Any) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        self.recorder, self.stopped, self.guarded = Recorder(0), False, False
        self.guard: Guard | None = None
        super().__init__(config=config, displayhook_class=Hook, display_pub_class=Publisher, **options)
        self.loop_runner = to_its_end

    def init_user_ns(self) -> None:
        """Begin without IPython's own `open`, which opens numbers, and without leaving."""
        super().init_user_ns()
        self.user_ns.pop("open", None)
        self.user_ns |= {"exit": stay, "quit": stay}  # IPython's own lead to this shell, which runs texts

    def enable_gui(self, gui: str | None = None) -> None:
        """Accept `%matplotlib inline`; there is no window to open."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        if not self.stopped:  # what follows from the first error is no news
            self.recorder.add(
                {"output_type": "error", "ename": etype.__name__, "evalue": str(evalue), "traceback": list(stb)}
            )

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python: as what is read of it, whatever it has done to IPython."""
        return raw_cell if self.guarded else as_python(raw_cell)

    def transform_ast(self, node: Any) -> Any:
        """Return a cell's code as it runs: rewritten for the guard where there is one.

        Raises:
            InputRejected: it cannot be rewritten, and does not run.
        """
        if not self.guarded:
            return super().transform_ast(node)
        try:
            return mediated(node, hints_run=not self.compile.flags & annotations.compiler_flag)
        except (RecursionError, MemoryError) as error:
            raise InputRejected("nested too deeply") from error

    def var_expand(self, cmd: str, depth: int = 0, formatter: Any = None) -> str:
        """Return a magic's words as they are: `{...}` in them would be run."""
        return cmd

    async def run_code(self, code_obj: Any, result: Any = None, *, async_: bool = False) -> bool:
        """Run one statement of a cell. The next one runs whatever becomes of it: it may define an exercise.

        Much that stops here goes on at home, such as opening a file or importing a package that was installed there.
        """
        if await super().run_code(code_obj, result, async_=async_):
            if not self.stopped and (why := why_not_here(result and result.error_in_exec)):
                print(why)
            self.stopped = True
        return False

    def system(self, cmd: Any) -> None:
        """Leave a line such as `!pip install` out."""
        say(f"!{cmd}")
        self.user_ns["_exit_code"] = 0

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Leave the command in `files = !ls` out: it has put nothing out."""
        say(f"!{cmd}")
        return SList() if split else ""

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a magic, or leave it out."""
        if magic_name in MAGICS:
            return say(f"%{magic_name} {line}".strip())
        return super().run_line_magic(magic_name, line, _stack_depth=_stack_depth + 1)

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        """Run a cell's magic, or leave it out."""
        if magic_name in CELL_MAGICS:
            return say(f"%%{magic_name} {line}".strip())
        return super().run_cell_magic(magic_name, line, cell)

    def run(self, source: str, most_bytes: int, *, guarded: bool = False) -> list[ShellOutput]:
        """Run one cell; return its outputs.

        Args:
            source: the cell.
            most_bytes: of its outputs.
            guarded: it is Python already, and a student's, and what it gets is looked at. Where there is a guard, what
                other cells define is the course's.
        """
        self.recorder, self.stopped, self.guarded = Recorder(most_bytes), False, guarded
        before = {name: id(value) for name, value in self.user_ns.items()}
        out, err = Stream(self.recorder, "stdout"), Stream(self.recorder, "stderr")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            around, cell = without_magic_around(source)
            if around:
                say(around)
            self.run_cell(cell, store_history=True)
        if self.guard and not guarded:
            self.guard.trust([value for name, value in self.user_ns.items() if before.get(name) != id(value)])
        return self.recorder.outputs
