"""What a student's fetched feedback says: when it was graded, and what each exercise got."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path

MOST_BYTES = 20 * 2**20
MOST_PAGES = 3  # that are read: what was handed in without being graded, and the last one that was
# a page begins with sentences and a table of our own (classroom.summary)
PARAGRAPH, ROW, CELL = (re.compile(rf"<{tag}\b[^>]*>(.*?)</{tag}>", re.DOTALL) for tag in ("p", "tr", "td"))
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Graded:
    """The latest feedback on a lesson that was fetched.

    Args:
        about: when the work was handed in and graded, and which attempt counts.
        points: by exercise or question, such as `2 of 4`.
        page: the page, relative to the start page.
    """

    about: str
    points: Mapping[str, str]
    page: str


def latest_feedback(lesson: Path) -> Graded | None:
    """Return what the latest feedback beside a lesson says; None where nothing was fetched, or nothing can be read.

    A page without a table says why an attempt was not graded. Its words go with those of the last one that was.

    Args:
        lesson: the lesson's folder. nbgrader names the folders in its `feedback` after the time of handing in.
    """
    latest: Graded | None = None
    for page in sorted(lesson.glob(f"feedback/*/{lesson.name}.html"), reverse=True)[:MOST_PAGES]:
        if (summary := summary_of(page)) is None:
            continue
        words = [*([latest.about] if latest else []), *map(text_of, PARAGRAPH.findall(summary))]
        rows = [[text_of(cell) for cell in CELL.findall(row)] for row in ROW.findall(summary)]
        points = {row[0]: row[1] for row in rows if len(row) > 1}
        latest = Graded(" ".join(words), points, page.relative_to(lesson.parent).as_posix())
        if points:
            break
    return latest


def summary_of(page: Path) -> str | None:
    """Return the beginning of a feedback page, as far as its first table; None where it cannot be read."""
    try:
        return page.read_text(encoding="utf-8").partition("</table>")[0] if page.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError):
        return None


def text_of(element: str) -> str:
    """Return an element's text, without tags."""
    return unescape(TAG.sub("", element))
