"""Drafting a known mistake from what a student wrote."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection
from itertools import count

from ..errors import CourseError
from ..judging.syntax import Definition
from ..paths import Course, Lesson

HEADER = "# Drafts from what students wrote. Nothing loads this file: read a draft, then move it to {}."
INDENT, NAME = "    ", re.compile(r"\bunnamed_\d+\b")
MESSAGE = "TODO: what went wrong here, and where to look? At most three lines; never the answer."


def add_draft(course: Course, lesson: Lesson, exercise: str, source: str) -> str:
    """Append a mistake to the lesson's drafts, a file that nothing loads; return its name.

    What a student wrote is read here and not run. It runs with the author's rights once they have moved it to
    mistakes.py.

    Raises:
        CourseError: the cell does not define the exercise.
    """
    drafts = course.drafts(lesson)
    drafted = drafts.read_text(encoding="utf-8") if drafts.is_file() else ""
    mistakes = lesson.mistakes_py.read_text(encoding="utf-8") if lesson.mistakes_py.is_file() else ""
    name, text = draft(exercise, source, NAME.findall(drafted + mistakes))
    drafts.parent.mkdir(parents=True, exist_ok=True)
    before = drafted.rstrip() or HEADER.format(lesson.shown(lesson.mistakes_py))
    drafts.write_text(f"{before}\n\n{text}\n", encoding="utf-8")
    return name


def draft(exercise: str, source: str, taken: Collection[str]) -> tuple[str, str]:
    """Return a name that is not taken, and the text of a mistake under it, ready for a message.

    All of the cell comes along, but for the student's own docstring. An author makes an edit of it where one will do.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise CourseError(f"The cell of {exercise} is not Python: {error.msg}, line {error.lineno}.") from error
    definitions = [s for s in statements if isinstance(s, Definition) and s.name == exercise]
    if not definitions:
        raise CourseError(f"The cell of {exercise} does not define it, so there is nothing to draft from.")
    wrong = definitions[-1]
    if ast.get_docstring(wrong) is not None:
        wrong.body = wrong.body[1:] or [ast.Pass()]
    name = next(n for n in (f"unnamed_{k}" for k in count(1)) if n not in taken)
    kept = [s for s in statements if s not in definitions[:-1]]
    code = textwrap.indent("\n\n".join(ast.unparse(s) for s in kept), INDENT)
    quoted = repr(code) if '"""' in code or "\\" in code or code.endswith('"') else f'"""\n{code}"""'
    return name, f"{name} = solution({exercise!r})\n{name}.mutant({name!r}, code={quoted},\n{INDENT}says={MESSAGE!r})"
