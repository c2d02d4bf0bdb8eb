"""What a notebook runs and grading does not: each says so, and what comes after it in the cell is run."""

from __future__ import annotations

import builtins
import io
import os
import sys
from types import ModuleType
from typing import Any

import torch

MAGICS = ("pip", "conda", "mamba", "micromamba", "uv", "timeit", "prun", "debug", "pdb", "edit", "sx", "system", "sc")
CELL_MAGICS = ("!", "bash", "sh", "script", "sx", "system", "perl", "ruby", "pypy", "python", "python2", "python3")
MOST_GIVEN = 6  # to `open` by place, after the name; the seventh is an opener, which returns a number
NOBODY_TYPES = "`input` waits for somebody who types, and when graded nobody does."


def say(what: str) -> None:
    """Say of something, as it is written in a cell, that it was left out."""
    print(f"`{what}` is not run when graded.")


def why_not_here(error: BaseException | None) -> str:
    """Say why a cell may stop here that does not stop at home, or return ''."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"`{error.name}` is not installed where submissions are graded."
    if isinstance(error, FileNotFoundError):
        return f"`{error.filename or 'That file'}` is not there when graded: only the lesson's own files are."
    return ""


def stay(_keep_kernel: bool = False) -> None:
    """Stay: `quit()` ends a notebook's kernel after the cell, and there is more to run."""
    say("quit()")


def check(_work: Any) -> None:
    """Leave a check out: what it needs is not in the sandbox, and the lesson's own checks run anyway."""
    say("check")


def earlier(_lesson: str, _exercise: str) -> None:
    """Find nothing of another lesson: only this one was handed in."""


def progress() -> None:
    """Leave the overview of all lessons out."""
    say("progress")


def nothing_typed(_prompt: object = "") -> str:
    """Answer for somebody who types nothing."""
    say("input")
    return ""


def refuse_input(_prompt: object = "") -> str:
    """Stop a function that asks while it is checked: no answer would be the right one."""
    raise RuntimeError(NOBODY_TYPES)


def described(*_things: object) -> None:
    """Leave out what `help` says, which only somebody who sits before the notebook reads."""
    say("help")


def not_stopped(*_given: object, **_options: object) -> None:
    """Go on: nobody looks around at a breakpoint. What an environment variable names instead is not called either."""
    say("breakpoint")


def open_by_name(file: Any, *given: Any, **options: Any) -> Any:
    """Open a file by its name. What is open already has numbers, and that is the sandbox's own line to the judge."""
    if not isinstance(file, str | bytes | os.PathLike) or len(given) > MOST_GIVEN or options.get("opener"):
        raise TypeError("When graded, a file is opened by its name.")
    return io.open(file, *given, **options)  # noqa: UP020 - `open` is this function


def not_compiled(model: Any = None, **_options: Any) -> Any:
    """Return what `torch.compile` is given as it is, also where it is a decorator with options."""
    say("torch.compile")
    return (lambda function: function) if model is None else model


def replace_what_is_not_run() -> None:
    """Let what only a notebook can do say so and do nothing: prompts, typed answers, the compiler."""
    for function in (check, earlier, progress):
        module = ModuleType(f"autograder.student.{function.__name__}")
        setattr(module, function.__name__, function)
        sys.modules[module.__name__] = module
    builtins.input, builtins.open = nothing_typed, open_by_name
    builtins.help, builtins.breakpoint, sys.breakpointhook = described, not_stopped, not_stopped  # type: ignore
    torch.compile = not_compiled
    if tqdm := sys.modules.get("tqdm"):  # which PyTorch imports
        tqdm.tqdm.monitor_interval = 0  # else a thread of its own looks after the bars for ever
    torch.nn.Module.compile = lambda *_, **__: say("compile")  # type: ignore[method-assign]
