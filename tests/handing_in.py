"""An exchange of nbgrader's, and students who hand in to it."""

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import notebook_hash

from autograder.paths import CONFIG_NAME, Course

WRITTEN = "%Y-%m-%d %H:%M:%S.%f UTC"
BY_ANYBODY = "c.ExchangeCollect.check_owner = False\nc.HandIn.pause = 0\n"


def add_exchange(course: Course, root: Path, rules: str = BY_ANYBODY) -> Path:
    """Make an exchange to which all lessons are released, and have a course collect from it."""
    for part in ("inbound", "feedback", *(f"outbound/{lesson.name}" for lesson in course.lessons())):
        (root / "attention" / part).mkdir(parents=True)
    configure(course, f"c.Exchange.root = {str(root)!r}\n{rules}")
    return root


def configure(course: Course, text: str) -> None:
    """Add to a course's configuration."""
    rewrite(course.root / CONFIG_NAME, (course.root / CONFIG_NAME).read_text(encoding="utf-8") + text)


def rewrite(config: Path, text: str) -> None:
    """Change a file so that its time changes, too: two changes may come within one tick of the file system's clock."""
    later = config.stat().st_mtime + 1
    config.write_text(text, encoding="utf-8")
    os.utime(config, (later, later))


def hand_in(exchange: Path, student: str, content: str, lesson: str, secret: str | None = None) -> str:
    """Hand in as nbgrader does, the secret last; return it."""
    time, secret = datetime.now(UTC).strftime(WRITTEN), secrets.token_hex(16) if secret is None else secret
    folder = exchange / "attention" / "inbound" / f"{student}+{lesson}+{time}+{secrets.token_hex(4)}"
    folder.mkdir()
    (folder / f"{lesson}.ipynb").write_text(content)
    (folder / "timestamp.txt").write_text(time)
    (folder / "submission_secret.txt").write_text(secret)
    return secret


def page_of(exchange: Path, secret: str, lesson: str) -> Path:
    """Return the page that a student can fetch."""
    return exchange / "attention" / "feedback" / f"{notebook_hash(secret=secret, notebook_id=lesson)}.html"
