"""What is needed to grade one submission, as a value that can be sent to another machine."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from .. import judging
from .package import LessonPackage
from .sandbox import Limits


@dataclass(frozen=True)
class Submission:
    """All that is needed to grade one submission.

    Args:
        notebook: the file that was handed in.
        lesson: the lesson that it belongs to.
        seed: what the inputs of all checks are drawn from.
        limits: how much the submission may use.
        demonstrations: run the lesson's own demonstration cells too.
        allow_unsandboxed: go on without isolation where there is none.
        patience: seconds of processor time or sleep after which to give up; no points come of less than it needs.
    """

    notebook: bytes
    lesson: LessonPackage
    seed: int
    limits: Limits = field(default_factory=Limits)
    demonstrations: bool = False
    allow_unsandboxed: bool = False
    patience: float = math.inf

    @property
    def rules(self) -> str:
        """A checksum of what decides points beside the lesson: the machinery, and the limits."""
        return hashlib.sha256(f"{machinery_digest()} {self.limits}".encode()).hexdigest()


@lru_cache(maxsize=1)
def machinery_digest() -> str:
    """Return a checksum of the code that runs and judges: what an older version graded is graded anew."""
    folders = (Path(__file__).parent, Path(judging.__file__).parent)
    texts = [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]
    return hashlib.sha256(b"".join(texts)).hexdigest()
