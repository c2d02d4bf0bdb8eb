"""The prose of the lessons as plain text, and the model that learns from it and ships with a lesson."""

from __future__ import annotations

import re
import subprocess
import sys

from ..errors import LessonError
from ..paths import Course, Lesson
from .lesson import read_lesson

SCRIPT, TEXT = "pretrain.py", "prose.txt"


def pretrain(course: Course, lesson: Lesson) -> None:
    """Run a lesson's pretrain.py, which makes the model that it ships; its prose.txt, if any, is first written anew.

    Raises LessonError where the lesson has none, or where it stops.
    """
    script, text = lesson.folder / SCRIPT, lesson.folder / TEXT
    where = lesson.shown(script)
    if not script.is_file():
        raise LessonError(where, "there is no such file.", "It trains the model that a lesson ships.")
    before = text.read_bytes() if text.is_file() else None
    if before is not None:
        text.write_text(prose_of(course, without=lesson.name), encoding="ascii")
    trained = False
    try:
        trained = not subprocess.run([sys.executable, SCRIPT], cwd=lesson.folder, check=False).returncode
    finally:
        if not trained and before is not None:
            text.write_bytes(before)  # the model that is still there learned from this one
    if not trained:
        raise LessonError(where, "it stopped with the error above.", "The old model is still there, with its text.")


def prose_of(course: Course, *, without: str = "") -> str:
    """Return all lessons' paragraphs, in order, as ASCII text: no headings, tables, formulas, hints or answers."""
    cells = [c for lesson in course.lessons() if lesson.name != without for c in read_lesson(lesson)]
    paragraphs = [p for c in cells if c.kind == "prose" for p in re.split(r"\n\s*\n", c.text)]
    plain = [without_marks(p) for p in paragraphs if not re.match(r"\s*(#|\||-|\$\$)", p) and "$" not in p]
    return "\n".join(p for p in plain if p) + "\n"


def without_marks(paragraph: str) -> str:
    """Return a paragraph without Markdown's marks."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph)
    text = re.sub(r"[*`]+", "", " ".join(text.split())).replace("’", "'").replace("−", "-").replace("…", "...")
    return text.encode("ascii", "ignore").decode()
