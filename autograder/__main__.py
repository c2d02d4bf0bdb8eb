"""`python -m autograder COMMAND`: what the Makefile's targets call."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .commands import COMMANDS, CORES
from .errors import CourseError
from .lessons import find_course

# jsonschema would compile the grammar of international addresses, for a second, which no notebook needs
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    made = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    for name, function in COMMANDS.items():
        command = commands.add_parser(name, help=(function.__doc__ or "").splitlines()[0])
        command.add_argument("--lesson", help="a lesson's name, as its folder is called")
        if name == "collect":
            command.add_argument("--from", dest="origin", required=True, help="a zip, a notebook, or a folder of them")
        if name == "grade":
            command.add_argument("--force", action="store_true", help="grade again what is graded already")
            command.add_argument("--jobs", type=int, default=CORES, help="submissions at once")
            command.add_argument("--demonstrations", action="store_true", help="run the lesson's own cells too")
            command.add_argument("--allow-unsandboxed", action="store_true", help="go on where nothing can be isolated")
            command.add_argument("--seed", type=int, help="repeat a run: the seed recorded in its graded notebooks")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; what the user can mend is one line on stderr and exit status 2."""
    options = parser().parse_args(arguments)
    try:
        return COMMANDS[options.command](find_course(), options)
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command goes on with what is not finished", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
