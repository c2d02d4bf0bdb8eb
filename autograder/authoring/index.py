"""The students' start page, made from solutions/index.py and from what the lessons say about themselves."""

from __future__ import annotations

import json
from typing import Any

import jupytext
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from ..paths import Course
from ..student.progress import Overview, lesson_progress
from ..student.titles import titles_in
from .notebook import join_cells, notebook_text


def build_index(course: Course) -> None:
    """Write notebooks/index.ipynb as a student sees it who has not begun."""
    course.index.write_text(index_text(course), encoding="utf-8")


def index_text(course: Course) -> str:
    """Return the start page as the text of its file."""
    cells = [index_cell(cell, course) for cell in jupytext.read(course.index_source).cells]
    return notebook_text(join_cells(cells))


def index_cell(cell: Any, course: Course) -> Any:
    """Return a cell; a code cell with the table that it shows before anything was checked."""
    if cell.cell_type == "markdown":
        return new_markdown_cell(cell.source)
    code_cell = new_code_cell(cell.source, execution_count=1, metadata={"tags": cell.metadata.get("tags", [])})
    overview = fresh_overview(course)
    data = {"text/plain": repr(overview), "text/html": overview._repr_html_()}
    code_cell.outputs = [new_output("display_data", data)]
    return code_cell


def fresh_overview(course: Course) -> Overview:
    """Return the table for a student who has not begun."""
    released = [lesson for lesson in course.lessons() if lesson.fingerprints_json.exists()]
    prints = [json.loads(lesson.fingerprints_json.read_text(encoding="utf-8")) for lesson in released]
    titles = [titles_in(lesson.released_dir / lesson.notebook_name) for lesson in released]
    return Overview([lesson_progress(data, {}, titles=t) for data, t in zip(prints, titles, strict=True)])
