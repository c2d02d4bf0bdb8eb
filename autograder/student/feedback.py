"""A student's feedback: which waits to be fetched on a hub, and what the fetched pages say of each exercise."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

MOST_READ_BYTES = 20 * 2**20
MOST_PAGES = 3  # that are read: what was handed in without being graded, and the last one that was
# a page begins with sentences and a table of our own (classroom.summary)
PARAGRAPH, ROW, CELL = (re.compile(rf"<{tag}\b[^>]*>(.*?)</{tag}>", re.DOTALL) for tag in ("p", "tr", "td"))
TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Graded:
    """The latest feedback on a lesson that was fetched."""

    about: str  # when the work was handed in and graded, and which attempt counts
    points: Mapping[str, str]  # by exercise or question, such as `2 of 4`
    page: str  # the page, relative to the start page


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
        return (
            page.read_text(encoding="utf-8").partition("</table>")[0]
            if page.stat().st_size <= MOST_READ_BYTES
            else None
        )
    except (OSError, ValueError):
        return None


def text_of(element: str) -> str:
    """Return an element's text, without tags."""
    return unescape(TAG.sub("", element))


def feedback_to_fetch() -> set[str]:
    """Return the lessons of which a hub has feedback that was not fetched, or has changed since it was."""
    if "JUPYTERHUB_USER" not in os.environ:
        return set()
    try:
        from nbgrader.apps import ListApp
        from nbgrader.auth import Authenticator
        from nbgrader.exchange import ExchangeFactory

        app = ListApp(log_level=logging.CRITICAL)
        app.initialize([])
        own = {"coursedir": app.coursedir, "authenticator": Authenticator(parent=app), "parent": app}
        lessons = ExchangeFactory(parent=app).List(**own, cached=True).start()
        return {lesson["assignment_id"] for lesson in lessons if any(map(is_to_fetch, lesson["submissions"]))}
    except (Exception, SystemExit):  # the exchange is away, or nbgrader is set up in another way: no news
        return set()


def is_to_fetch(submission: Mapping[str, Any]) -> bool:
    """Say whether there is feedback for a submission that its student does not have."""
    fetched = submission["has_local_feedback"] and not submission["feedback_updated"]
    return submission["has_exchange_feedback"] and not fetched
