"""Reading lesson.py: a jupytext percent script whose short cell headers say what each cell is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

import jupytext

from ..errors import LessonError
from ..judging.answer_key import LessonSource
from ..paths import Lesson

Kind = Literal["prose", "demo", "measured", "setup", "exercise", "check", "hints", "question"]
NAMED = ("exercise", "check", "hints", "question")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HINTS = ("a question", "a pointer", "an idea")


@dataclass(frozen=True)
class LessonCell:
    """One cell as the author wrote it.

    Args:
        kind: what the header says: setup, exercise, check, hints, question, measured (a demonstration whose digits
            depend on the computer); without a header prose or demo.
        name: the exercise or question that the cell belongs to.
        text: the cell's content.
        points: of a question, which a person grades.
        line: where its header is in lesson.py, from 1; 0 where that is not known.
    """

    kind: Kind
    name: str
    text: str
    points: int = 0
    line: int = 0


def read_lesson(lesson: Lesson) -> list[LessonCell]:
    """Return a lesson's cells. Raises LessonError for a header that means nothing or a cell that is missing."""
    text = lesson.text.read_text(encoding="utf-8")
    notebook, headers = jupytext.reads(text, fmt="py:percent"), header_lines(text)
    if len(headers) != len(notebook.cells):
        headers = [0] * len(notebook.cells)
    where = lesson.shown(lesson.text)
    cells = [parse_cell(cell, where, line) for cell, line in zip(notebook.cells, headers, strict=True)]
    orphans = [c for c in cells if c.kind in ("hints", "check") and c.name not in exercises_in(cells)]
    if orphans:
        names = f"{orphans[0].kind} {orphans[0].name}"
        problem = f"`# %% {names}` belongs to no exercise."
        raise LessonError(at_line(where, orphans[0].line), problem, "Name it as its exercise cell is named.")
    for cell in (c for c in cells if c.kind == "exercise"):
        missing = [
            kind for kind in ("hints", "check") if not any(c.kind == kind and c.name == cell.name for c in cells)
        ]
        if missing:
            problem = f"exercise {cell.name} has no {missing[0]} cell."
            raise LessonError(at_line(where, cell.line), problem, f"Add `# %% {missing[0]} {cell.name}`.")
    return cells


def header_lines(text: str) -> list[int]:
    """Return the lines, from 1, where cells begin."""
    return [number for number, line in enumerate(text.split("\n"), 1) if re.match(r"# %%( |$)", line)]


def at_line(where: str, line: int) -> str:
    """Return a file with a line, as editors and terminals make a link of it."""
    return f"{where}:{line}" if line else where


def parse_cell(cell: object, where: str, line: int = 0) -> LessonCell:
    """Translate one jupytext cell by its header."""
    metadata, code = cell.metadata, cell.cell_type == "code"  # type: ignore[attr-defined]
    text = str(cell.source)  # type: ignore[attr-defined]
    words = str(metadata.get("title", "")).split()
    if not words:
        return LessonCell("demo" if code else "prose", "", text, line=line)
    if words in (["setup"], ["measured"]):
        return LessonCell(cast(Kind, words[0]), "", text, line=line)
    if len(words) != 2 or words[0] not in NAMED:
        known = "setup, measured, " + ", ".join(f"{kind} NAME" for kind in NAMED)
        problem = f"the header `# %% {' '.join(words)}` means nothing."
        raise LessonError(at_line(where, line), problem, f"Known headers: {known}.")
    return LessonCell(cast(Kind, words[0]), words[1], text, int(metadata.get("points", 0)), line)


def is_code(cell: LessonCell) -> bool:
    """Say whether a cell's text is Python that the author wrote."""
    return cell.kind in ("demo", "measured", "setup", "exercise")


def exercises_in(cells: list[LessonCell]) -> list[str]:
    """Return the exercises' names in order."""
    return [cell.name for cell in cells if cell.kind == "exercise"]


def solution_of(cell: LessonCell) -> str:
    """Return an exercise's code without the marker lines."""
    return "\n".join(line for line in cell.text.split("\n") if line.strip() not in (BEGIN, END))


def line_in_lesson(cell: LessonCell, line: int) -> int:
    """Return where a line of a cell's code, counted from 1 and without the marker lines, is in lesson.py."""
    shown = [n for n, text in enumerate(cell.text.split("\n"), 1) if text.strip() not in (BEGIN, END)]
    return cell.line + shown[min(line, len(shown)) - 1] if cell.line and shown else cell.line


def hints_html(cell: LessonCell) -> str:
    """Return a hints cell, three paragraphs, as three folded steps."""
    paragraphs = [p for p in re.split(r"\n\s*\n", cell.text.strip()) if p]
    if len(paragraphs) != len(HINTS):
        raise LessonError("lesson.py", f"hints {cell.name} has {len(paragraphs)} paragraphs.", "Write three.")
    return "\n\n".join(
        f"<details><summary>Hint {i}: {title}</summary>\n\n{text}\n\n</details>"
        for i, (title, text) in enumerate(zip(HINTS, paragraphs, strict=True), start=1)
    )


def reference_source(cells: list[LessonCell]) -> str:
    """Return the code that defines the reference: the setup cell and every exercise's solution."""
    parts = [c.text if c.kind == "setup" else solution_of(c) for c in cells if c.kind in ("setup", "exercise")]
    return "\n\n".join(parts)


def title_of(cells: list[LessonCell], lesson: Lesson) -> str:
    """Return the lesson's heading."""
    return first_match(r"^# (.+)$", "`# 7. Title`", cells, lesson)


def minutes_of(cells: list[LessonCell], lesson: Lesson) -> int:
    """Return how long the lesson says it takes."""
    return int(first_match(r"\b[Aa]bout (\d+) minutes", "`About 45 minutes.`", cells, lesson))


def first_match(pattern: str, example: str, cells: list[LessonCell], lesson: Lesson) -> str:
    """Return what the first cell says. Raises LessonError where it does not."""
    found = re.search(pattern, cells[0].text if cells else "", re.MULTILINE)
    if found is None:
        raise LessonError(lesson.shown(lesson.text), f"the first cell lacks {example}.", "The start page shows it.")
    return found[1]


def lesson_source(lesson: Lesson, cells: list[LessonCell]) -> LessonSource:
    """Return what judging needs of a lesson."""
    return LessonSource(
        name=lesson.name,
        place=lesson.shown(lesson.folder),
        title=title_of(cells, lesson),
        minutes=minutes_of(cells, lesson),
        exercises=tuple(exercises_in(cells)),
        reference=reference_source(cells),
        checks=lesson.checks.read_text(encoding="utf-8"),
        hidden=lesson.hidden.read_text(encoding="utf-8"),
        modules=tuple((path.name, path.read_text(encoding="utf-8")) for path in lesson.modules),
    )
