"""Starting a lesson from `solutions/_template/`."""

from __future__ import annotations

import re
import shutil

from ..errors import CourseError, command
from ..paths import Course, Lesson

NAME = re.compile(r"\d\d_[a-z][a-z0-9_]*")


def start_lesson(course: Course, name: str) -> str:
    """Copy the template to a new lesson's folder.

    Args:
        course: where to.
        name: two digits, an underscore and a name in small letters.

    Returns:
        The path of the new lesson.py, relative to the course.

    Raises:
        CourseError: the name does not fit, or the lesson exists.
    """
    if not NAME.fullmatch(name):
        example = command("lesson --lesson 14_my_lesson")
        raise CourseError(f"{name!r} is not a lesson name: two digits, then small letters, as in `{example}`.")
    lesson = Lesson(name, course.root)
    if lesson.folder.exists():
        raise CourseError(f"{lesson.shown(lesson.folder)} exists already. Choose another name.")
    shutil.copytree(course.template, lesson.folder)
    text = lesson.lesson_py.read_text(encoding="utf-8")
    for title in ("# N. ", "Exercise N.", "Question RN", "question RN"):
        text = text.replace(title, title.replace("N", str(int(name[:2]))))
    lesson.lesson_py.write_text(text, encoding="utf-8")
    return lesson.shown(lesson.lesson_py)
