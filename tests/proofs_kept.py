"""What a lesson's proof depends on: whoever has changed nothing of it need not prove the lesson again.

Pytest's cache keeps a checksum of it, names and contents: the lesson's folder, what is released of it, the layers that
prove, the tests, the pins, Python and PyTorch. A fresh clone has none.
"""

import hashlib
import platform
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.paths import Lesson

ROOT = Path(__file__).parent.parent
IGNORED = {"__pycache__", ".ipynb_checkpoints"}
NOT_PROVING = ROOT / "autograder" / "classroom"  # the one layer that nothing else imports


def proof_digest(lesson: Lesson) -> str:
    """Return a checksum of all that a lesson's proof depends on."""
    total = hashlib.sha256(f"{platform.python_version()} {torch.__version__} {platform.machine()}".encode())
    for root, paths in ((ROOT, machinery()), (lesson.root, [*files_in(lesson.folder), *files_in(lesson.released_dir)])):
        for path in sorted(paths):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return total.hexdigest()


def machinery() -> list[Path]:
    """Return the files that prove, and those that say with which libraries."""
    own = [Path(__file__), Path(__file__).parent / "test_verify.py", ROOT / "constraints.txt", ROOT / "pyproject.toml"]
    return [*own, *(path for path in files_in(ROOT / "autograder") if NOT_PROVING not in path.parents)]


def files_in(folder: Path) -> Iterator[Path]:
    """Yield a folder's files, at any depth, links followed to what they lead to."""
    for path in folder.rglob("*"):
        if path.is_file() and not IGNORED & set(path.parts):
            yield path
