"""What a student's fetched feedback says: when it was graded, and what each exercise got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

MOST_BYTES = 20 * 2**20


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
        reader = SummaryReader(pages[-1].read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    page = pages[-1].relative_to(lesson.parent).as_posix()
    return Graded(" ".join(reader.sentences), {row[0]: row[1] for row in reader.rows if len(row) > 1}, page)


class SummaryReader(HTMLParser):
    """Reads the table that a feedback page begins with, and the sentences above it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sentences: list[str] = []
        self.rows: list[list[str]] = []
        self._into: list[str] | None = None
        self._done = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where a text begins that is wanted."""
        if self._done:
            return
        if tag == "tr":
            self.rows.append([])
        wanted = {"p": self.sentences, "td": self.rows[-1] if self.rows else None}.get(tag)
        if wanted is not None:
            wanted.append("")
            self._into = wanted

    def handle_endtag(self, tag: str) -> None:
        """Note where it ends, and stop at the end of the first table."""
        if tag in ("p", "td"):
            self._into = None
        self._done = self._done or tag == "table"

    def handle_data(self, data: str) -> None:
        """Take the text."""
        if self._into is not None and not self._done:
            self._into[-1] += data
