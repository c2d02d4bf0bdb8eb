"""Reading lesson.py: a jupytext percent script whose short cell headers say what each cell is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

import jupytext

from ..errors import LessonError
from ..judging.answer_key import LessonSource
from ..judging.card import number
from ..paths import Lesson
from .nbgrader_course import graded_questions

Kind = Literal["prose", "demo", "measured", "setup", "exercise", "check", "hints", "question"]
NAMED = ("exercise", "check", "hints", "question")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HINTS = ("a question", "a pointer", "an idea")


@dataclass(frozen=True)
class LessonCell:
    """One cell as the author wrote it."""

    kind: Kind  # what the header says; without one prose or demo. The digits of a measured one depend on the computer
    name: str  # the exercise or question that the cell belongs to
    text: str
    points: int = 0  # of a question, which a person grades; 0 where it is optional
    line: int = 0  # where its header is in lesson.py, from 1; 0 where that is not known


def read_lesson(lesson: Lesson) -> list[LessonCell]:
    """Return a lesson's cells, with the questions that do not count made optional.

    Raises LessonError for the first thing that does not fit together.
    """
    text = lesson.lesson_py.read_text(encoding="utf-8")
    notebook, headers = jupytext.reads(text, fmt="py:percent"), header_lines(text)
    if len(headers) != len(notebook.cells):
        headers = [0] * len(notebook.cells)
    where = lesson.shown(lesson.lesson_py)
    cells = [parse_cell(cell, where, line) for cell, line in zip(notebook.cells, headers, strict=True)]
    for line, problem, remedy in lesson_problems(cells):
        raise LessonError(at_line(where, line), problem, remedy)
    graded = graded_questions(lesson.root)
    optional = [cell.name for cell in cells if cell.kind == "question" and cell.name not in graded]
    return [with_optional(cell, optional) for cell in cells] if graded and optional else cells


def with_optional(cell: LessonCell, optional: list[str]) -> LessonCell:
    """Return a cell as it is where these questions carry no points: the prose says so."""
    if cell.kind == "question" and cell.name in optional:
        return replace(cell, points=0)
    if cell.kind == "prose":
        pattern = rf"(\*\*Question ({'|'.join(map(re.escape, optional))})\*\*) \([^)]*\)"
        return replace(cell, text=re.sub(pattern, r"\1 (optional, without points)", cell.text))
    return cell


def lesson_problems(cells: list[LessonCell]) -> Iterator[tuple[int, str, str]]:
    """Yield what does not fit together: the line, what is wrong with it, and what to do."""
    if not any(cell.kind == "setup" for cell in cells):
        yield 0, "there is no setup cell.", "Add `# %% setup` above the imports."
    named = [(cell.kind, cell.name) for cell in cells]
    for cell in (c for n, c in enumerate(cells) if (c.name or c.kind == "setup") and (c.kind, c.name) in named[:n]):
        yield cell.line, f"{header_of(cell)} is there twice.", "Rename or remove one of them."
    for cell in (c for c in cells if c.kind in PROBLEMS_OF):
        yield from PROBLEMS_OF[cell.kind](cell, cells)


def exercise_cell_problems(cell: LessonCell, cells: list[LessonCell]) -> Iterator[tuple[int, str, str]]:
    """Yield what an exercise lacks."""
    for kind in ("hints", "check"):
        if not any((other.kind, other.name) == (kind, cell.name) for other in cells):
            yield cell.line, f"exercise {cell.name} has no {kind} cell.", f"Add `# %% {kind} {cell.name}`."
    marks = [line.strip() for line in cell.text.split("\n") if line.strip() in (BEGIN, END)]
    if not marks or marks != [BEGIN, END] * (len(marks) // 2):
        problem = f"exercise {cell.name} does not mark its solution."
        yield cell.line, problem, f"Put `{BEGIN}` and `{END}` around what students are to write."


def check_cell_problems(cell: LessonCell, cells: list[LessonCell]) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with a cell that belongs to an exercise."""
    if cell.name not in exercises_in(cells):
        yield cell.line, f"{header_of(cell)} belongs to no exercise.", "Name it as its exercise cell is named."


def hints_cell_problems(cell: LessonCell, cells: list[LessonCell]) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with a cell of hints."""
    yield from check_cell_problems(cell, cells)
    if len(hints_of(cell)) != len(HINTS):
        yield cell.line, f"{header_of(cell)} has {number(len(hints_of(cell)), 'paragraph')}.", "Write three."


def question_cell_problems(cell: LessonCell, cells: list[LessonCell]) -> Iterator[tuple[int, str, str]]:
    """Yield what is wrong with a question: its points, which the prose states too."""
    told = points_told(cells, cell.name)
    if told is not None and told != cell.points:
        problem = f"{header_of(cell)} has points={cell.points}, and the prose says {told}."
        yield cell.line, problem, "Make them agree."


PROBLEMS_OF: Mapping[str, Callable[[LessonCell, list[LessonCell]], Iterator[tuple[int, str, str]]]] = {
    "exercise": exercise_cell_problems,
    "check": check_cell_problems,
    "hints": hints_cell_problems,
    "question": question_cell_problems,
}


def header_of(cell: LessonCell) -> str:
    """Return a cell's header, as a message shows it."""
    return f"`# %% {cell.kind} {cell.name}`" if cell.name else f"`# %% {cell.kind}`"


def points_told(cells: list[LessonCell], question: str) -> int | None:
    """Return how many points the prose says that a question has."""
    pattern = rf"\*\*Question {re.escape(question)}\*\* \((\d+) point"
    match = re.search(pattern, "\n".join(cell.text for cell in cells if cell.kind == "prose"))
    return int(match[1]) if match else None


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
    points = metadata.get("points", 0)
    if not isinstance(points, int) or (words[0] == "question" and points < 1):
        remedy = f"Write `# %% question {words[1]} [markdown] points=2`."
        raise LessonError(at_line(where, line), f"{' '.join(words)} needs a whole number of points.", remedy)
    return LessonCell(cast(Kind, words[0]), words[1], text, points, line)


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
    return "\n\n".join(
        f"<details><summary>Hint {i}: {title}</summary>\n\n{text}\n\n</details>"
        for i, (title, text) in enumerate(zip(HINTS, hints_of(cell), strict=True), start=1)
    )


def hints_of(cell: LessonCell) -> list[str]:
    """Return a hints cell's paragraphs."""
    return [p for p in re.split(r"\n\s*\n", cell.text.strip()) if p]


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
    match = re.search(pattern, cells[0].text if cells else "", re.MULTILINE)
    if match is None:
        raise LessonError(
            lesson.shown(lesson.lesson_py), f"the first cell lacks {example}.", "The start page shows it."
        )
    return match[1]


def lesson_source(lesson: Lesson, cells: list[LessonCell]) -> LessonSource:
    """Return what judging needs of a lesson."""
    return LessonSource(
        name=lesson.name,
        folder=lesson.shown(lesson.folder),
        title=title_of(cells, lesson),
        minutes=minutes_of(cells, lesson),
        exercises=tuple(exercises_in(cells)),
        reference=reference_source(cells),
        checks=lesson.checks_py.read_text(encoding="utf-8"),
        hidden=lesson.hidden_py.read_text(encoding="utf-8"),
        mistakes=text_of(lesson.mistakes_py),
        variants=text_of(lesson.variants_py),
        modules=tuple((path.name, path.read_text(encoding="utf-8")) for path in lesson.module_files),
    )


def text_of(path: Path) -> str:
    """Return what a file says; '' where there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""
