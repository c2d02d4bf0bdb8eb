"""The commands that students have: each prints what came out and returns the exit status."""

from __future__ import annotations

import argparse

from ..paths import Course


def check(course: Course, options: argparse.Namespace) -> int:
    """Run a lesson's checks as a student has them."""
    from .hand_in import check_lesson

    lines, passed = check_lesson(course.lesson(options.lesson or ""))
    print("\n".join(lines))
    return 0 if passed else 1


def submit(course: Course, options: argparse.Namespace) -> int:
    """Make the file that a student uploads."""
    from .hand_in import submit as submit_lesson

    print("\n".join(submit_lesson(course, course.lesson(options.lesson or ""))))
    return 0


def reset(course: Course, options: argparse.Namespace) -> int:
    """Start a lesson anew and keep the old notebook."""
    from .hand_in import reset as reset_lesson

    print("\n".join(reset_lesson(course, course.lesson(options.lesson or ""))))
    return 0


COMMANDS = {command.__name__: command for command in (check, submit, reset)}
