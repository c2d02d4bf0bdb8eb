"""`lessons COMMAND`, or `python -m autograder COMMAND`: what the Makefile's targets call."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from .errors import CourseError
from .paths import Course, find_course
from .student.commands import COMMANDS as FOR_STUDENTS
from .student.workspace import find_workspace, hub_workspace

Command = Callable[[Course, argparse.Namespace], int]
# commands that put the lessons where there are none
COURSE_FINDERS = {"lab": find_workspace, "update": find_workspace, "hub": hub_workspace}
PASS_THROUGH = ("lab", "hub")  # commands that pass on what they do not know to JupyterLab
MULTITHREADED = (*PASS_THROUGH, "pretrain")


def commands() -> dict[str, Command]:
    """Return the commands that this copy has: a student's copy lacks the instructor's layers."""
    if find_spec("autograder.classroom") is None:
        return dict(FOR_STUDENTS)
    from .classroom.commands import COMMANDS

    return {**COMMANDS, **FOR_STUDENTS}


def parser(known: dict[str, Command]) -> argparse.ArgumentParser:
    """Return the command line's parser."""
    reader = argparse.ArgumentParser(prog="lessons", description=__doc__)
    subparsers = reader.add_subparsers(dest="command", required=True)
    for name, function in known.items():
        command = subparsers.add_parser(name, help=(function.__doc__ or "").splitlines()[0])
        command.add_argument("--lesson", help="a lesson's name, as its folder is called")
        if name not in FOR_STUDENTS:
            from .classroom.commands import add_options

            add_options(name, command)
    return reader


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; what the user can fix is one line on stderr and exit status 2."""
    # jsonschema would compile the grammar of international addresses, for two seconds, which no notebook needs
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    known = commands()
    reader = parser(known)
    options, further = reader.parse_known_args(arguments)
    if further and options.command not in PASS_THROUGH:
        reader.error(f"unrecognized arguments: {' '.join(further)}")
    options.further = further
    if options.command not in MULTITHREADED:
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # on a check's few numbers, threads wait longer than they work
    try:
        course = COURSE_FINDERS.get(options.command, find_course)()
        return known[options.command](course, options)
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on with what is not finished", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
