"""What a student's fetched feedback says: when it was graded, and what each exercise got."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path

MOST_BYTES = 20 * 2**20
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

    Args:
        lesson: the lesson's folder. nbgrader names the folders in its `feedback` after the time of handing in.
    """
    pages = sorted(lesson.glob(f"feedback/*/{lesson.name}.html"))
    if not pages or pages[-1].stat().st_size > MOST_BYTES:
        return None
    try:
        summary = pages[-1].read_text(encoding="utf-8").partition("</table>")[0]
    except (OSError, ValueError):
        return None
    about = " ".join(text_of(paragraph) for paragraph in PARAGRAPH.findall(summary))
    rows = [[text_of(cell) for cell in CELL.findall(row)] for row in ROW.findall(summary)]
    points = {row[0]: row[1] for row in rows if len(row) > 1}
    return Graded(about, points, pages[-1].relative_to(lesson.parent).as_posix())


def text_of(element: str) -> str:
    """Return an element's text, without tags."""
    return unescape(TAG.sub("", element))
