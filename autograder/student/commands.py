"""The commands that students have: each prints what came out and returns the exit status."""

from __future__ import annotations

import argparse
import sys

from ..paths import Course


def lab_command(course: Course, options: argparse.Namespace) -> int:
    """Open JupyterLab on the lessons; put them here first where there are none."""
    from .workspace import open_lab, update_lessons

    print("\n".join(update_lessons(course)), flush=True)
    open_lab(course, course.lesson(options.lesson) if options.lesson else None, options.further)
    return 0


def hub_command(course: Course, options: argparse.Namespace) -> int:
    """Start the server of a JupyterHub's user, with the lessons put in place first."""
    from .workspace import close_to_others, serve_hub, update_lessons

    try:
        close_to_others(course)
        print("\n".join(update_lessons(course)), flush=True)
    except OSError as error:  # such as a full disk, which the student can only clear in a server that runs
        print(f"The lessons were not brought up to date: {error}", file=sys.stderr, flush=True)
    serve_hub(options.further)
    return 0


def update_command(course: Course, _options: argparse.Namespace) -> int:
    """Put the lessons here, or bring them up to date; no work is overwritten."""
    from .workspace import update_lessons

    print("\n".join(update_lessons(course)) or "The lessons are up to date.")
    return 0


def check_command(course: Course, options: argparse.Namespace) -> int:
    """Run a lesson's checks as a student has them."""
    from .hand_in import check_lesson

    lines, passed = check_lesson(course.lesson(options.lesson or ""))
    print("\n".join(lines))
    return 0 if passed else 1


def submit_command(course: Course, options: argparse.Namespace) -> int:
    """Make the file that a student uploads."""
    from .hand_in import submit

    print("\n".join(submit(course, course.lesson(options.lesson or ""))))
    return 0


def reset_command(course: Course, options: argparse.Namespace) -> int:
    """Start a lesson anew and keep the old notebook."""
    from .hand_in import reset

    print("\n".join(reset(course, course.lesson(options.lesson or ""))))
    return 0


def gpt2_command(_course: Course, _options: argparse.Namespace) -> int:
    """Fetch GPT-2's published weights for lesson 13, after asking; half a gigabyte."""
    from .gpt2 import fetch_gpt2

    print(fetch_gpt2())
    return 0


# a command `x` is the function `x_command`
COMMANDS = {name.removesuffix("_command"): run for name, run in list(globals().items()) if name.endswith("_command")}
