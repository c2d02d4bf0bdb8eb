"""Lessons that were proved as they are: whoever has changed none of them need not prove them all again.

A proof is kept under build/ as a checksum of everything that goes into it, names and contents: the lesson's folder,
what is released of it, the layers that prove, the tests, the pins, Python and PyTorch. A fresh clone has none.
"""

import hashlib
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import torch

from autograder.paths import Lesson

ROOT = Path(__file__).parent.parent
IGNORED = {"__pycache__", ".ipynb_checkpoints"}
NOT_PROVING = ROOT / "autograder" / "classroom"  # the one layer that nothing else imports


def is_proved(lesson: Lesson) -> bool:
    """Say whether the proof of just this has passed here."""
    path = proof_file(lesson)
    return path.is_file() and path.read_text(encoding="utf-8") == proof_digest(lesson)


def remember_proof(lesson: Lesson, digest: str) -> None:
    """Keep a proof that has passed, of what there was when it began."""
    path = proof_file(lesson)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(digest, encoding="utf-8")
    draft.replace(path)


def proof_file(lesson: Lesson) -> Path:
    """Return where a lesson's proof is kept."""
    return lesson.root / "build" / "proofs" / f"{lesson.name}.sha256"


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
