"""What a notebook runs and grading does not: each says so, and the rest of the cell goes on."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def say(what: str) -> None:
    """Say of something, as it stands in a cell, that it was left out."""
    print(f"`{what}` is not run when graded.")


def check(_work: Any) -> None:
    """Leave a check out: what it needs is not in the sandbox, and the lesson's own checks run anyway."""
    say("check")


def earlier(_lesson: str, _exercise: str) -> None:
    """Find nothing of another lesson: only this one was handed in."""


def progress() -> None:
    """Leave the overview of all lessons out."""
    say("progress")


def replace_the_desk() -> None:
    """Let what a lesson imports from a student's desk do nothing: the desk itself is not in the sandbox."""
    for function in (check, earlier, progress):
        module = ModuleType(f"autograder.student.{function.__name__}")
        setattr(module, function.__name__, function)
        sys.modules[module.__name__] = module
