"""The first thing on a feedback page: each exercise with its points and the reason, each leading to its cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from nbformat.v4 import new_markdown_cell

from ..grading.grade import RECORD
from ..judging import card
from ..judging.cell_metadata import CHECK_PREFIX, QUESTION_PREFIX, grade_id_of, is_graded, nbgrader_metadata
from .writer import NO_RESPONSE

LEFT = card.CELL.replace("right", "left")
PASSED, WAITING, COMMENTED, NO_ANSWER = "all checks passed", "not graded yet", "see the comment", "no answer"
BY_HAND, AGAIN = "points from a person", "points from a person for an earlier answer, who will look at it again"


@dataclass(frozen=True)
class SummaryRow:
    """One line of the summary."""

    name: str  # the exercise, with its number in the lesson, or the question
    anchor: str  # of the cell with the answer; nbgrader's page has one there for comments
    points: float  # what was earned
    of: float  # what could be earned
    reason: str  # why it is not all, or that it is


def summary_rows(notebook: Any, waiting: set[str], titles: Mapping[str, str]) -> Iterator[SummaryRow]:
    """Yield a line for each graded cell, after nbgrader's GetGrades has put in the points."""
    verdicts = notebook.metadata.get(RECORD, {}).get("verdicts", {})
    comments = {grade_id_of(cell): nbgrader_metadata(cell).get("comment") for cell in notebook.cells}
    for cell in filter(is_graded, notebook.cells):
        data, name = nbgrader_metadata(cell), grade_id_of(cell)
        exercise, points = name.removeprefix(CHECK_PREFIX), float(data.get("score") or 0)
        waits = name in waiting
        reason = reason_of(verdicts.get(exercise, {}), points, waits) if name != exercise else WAITING if waits else ""
        if comments.get(exercise) and reason in ("", BY_HAND):
            comment = NO_ANSWER if comments[exercise] == NO_RESPONSE else COMMENTED
            reason = ": ".join(filter(None, (reason, comment)))
        shown = name.replace(QUESTION_PREFIX, "question ") if name == exercise else titles.get(exercise, exercise)
        yield SummaryRow(shown, f"comment-{exercise}", points, float(data.get("points") or 0), reason)


def reason_of(verdict: Mapping[str, Any], points: float, waits: bool = False) -> str:
    """Return why an exercise has its points, in the words of its card; a person may have given them."""
    if waits:
        return AGAIN
    if points != verdict.get("points", points):
        return BY_HAND
    return PASSED if verdict.get("passed") else str(verdict.get("told", ""))


def total_of(lines: Sequence[SummaryRow], late_penalty: float) -> str:
    """Return the sum of what is known, and what is not."""
    known = [line for line in lines if line.reason != WAITING]
    points = max(0.0, sum(line.points for line in known) - late_penalty)
    left = sum(line.of for line in lines) - sum(line.of for line in known)
    so_far = f" so far; the other {left:g} are not graded yet" if left else ""
    return f"{points:g} of {sum(line.of for line in known):g} points{so_far}."


def summary_cell(lines: list[SummaryRow], late_penalty: float, about: Sequence[str] = ()) -> Any:
    """Return the summary as a cell."""
    sentences = [Markup("<strong>{}</strong>").format(total_of(lines, late_penalty)), *map(escape, about)]
    heads = "".join(f"<th style='{LEFT}'>{head}</th>" for head in ("exercise", "points", "reason"))
    rows = "".join(map(row, lines))
    if late_penalty > 0:
        rows += tr("late", f"−{late_penalty:g}", "penalty for handing in late")
    style = "class='summary' style='border-collapse:collapse'"
    table = f"<table {style}><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    return new_markdown_cell(f"<div>{''.join(f'<p>{words}</p>' for words in sentences)}{table}</div>")


def row(line: SummaryRow) -> str:
    """Return one line as a row of the table."""
    link = f"<a href='#{escape(line.anchor)}'>{escape(line.name)}</a>"
    earned = "–" if line.reason == WAITING else f"{line.points:g}"
    points = f"{earned} of {line.of:g}" if line.of else "optional"
    return tr(link, points, str(with_code(line.reason)).replace("\n", " "))


def tr(*cells: str) -> str:
    """Return cells as a row."""
    return "<tr>" + "".join(f"<td style='{LEFT}'>{cell}</td>" for cell in cells) + "</tr>"


def with_code(text: str) -> Markup:
    """Return a message as HTML, with code between backticks marked as code."""
    return Markup(card.with_code(text))
