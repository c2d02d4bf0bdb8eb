"""Drafting a known mistake from what a student wrote."""

from __future__ import annotations

import ast
from collections.abc import Collection
from itertools import count

from ..errors import CourseError
from ..paths import Course, Lesson

HEADER = "# Drafts from what students wrote. Nothing loads this file: read a draft, then move it to {}."
MESSAGE = "TODO: what went wrong here, and where to look? At most three lines; never the answer."
Definition = ast.FunctionDef | ast.ClassDef


def add_draft(course: Course, lesson: Lesson, exercise: str, source: str) -> str:
    """Append a `@mistake` to the lesson's drafts, a file that nothing loads; return its name.

    What a student wrote is read here and not run. It runs with the author's rights once they have moved it to
    hidden.py.

    Args:
        course: where the drafts are kept.
        lesson: whose mistake it is.
        exercise: the exercise that the student got wrong.
        source: the student's cell.

    Raises:
        CourseError: the cell does not define the exercise.
    """
    drafts = course.drafts(lesson)
    drafted = (
        drafts.read_text(encoding="utf-8") if drafts.is_file() else f"{HEADER.format(lesson.shown(lesson.hidden))}\n"
    )
    parsed = (ast.parse(text) for text in (drafted, lesson.hidden.read_text(encoding="utf-8")))
    taken = {node.name for tree in parsed for node in tree.body if isinstance(node, Definition)}
    name, text = draft(exercise, source, taken)
    drafts.parent.mkdir(parents=True, exist_ok=True)
    drafts.write_text(f"{drafted.rstrip()}\n\n\n{text}\n", encoding="utf-8")
    return name


def draft(exercise: str, source: str, taken: Collection[str]) -> tuple[str, str]:
    """Return a name that is not taken, and the text of a `@mistake` under it, ready for a message.

    What else is in the cell, such as imports and helpers, goes into a function, and before a class.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise CourseError(f"The cell of {exercise} is not Python: {error.msg}, line {error.lineno}.") from error
    definitions = [s for s in statements if isinstance(s, Definition) and s.name == exercise]
    if not definitions:
        raise CourseError(f"The cell of {exercise} does not define it, so there is nothing to draft from.")
    wrong = definitions[-1]
    others = [s for s in statements if s not in definitions]
    wrong.name = next(n for n in (f"unnamed_{k}" for k in count(1)) if n not in taken)
    wrong.decorator_list = [ast.parse(f"mistake({exercise!r})", mode="eval").body]
    body = wrong.body[1:] if ast.get_docstring(wrong) is not None else wrong.body
    before = others if isinstance(wrong, ast.ClassDef) else []
    inside = [] if isinstance(wrong, ast.ClassDef) else others
    message = ast.Expr(ast.Constant(MESSAGE))
    wrong.body = [message, *inside, *body]
    return wrong.name, "\n\n\n".join(ast.unparse(ast.fix_missing_locations(s)) for s in (*before, wrong))
