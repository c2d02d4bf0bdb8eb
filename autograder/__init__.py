"""What a lesson imports: `check`, `plot`, `predict`, `progress`, `recap` and `reveal`.

The package has six rooms. `student`, `authoring` and `grading` import `judging`; `classroom` imports `grading` and
`authoring`; everything may import `paths` and `errors`. docs/glossary.md explains the words that they share.
"""

from . import plot
from .student.check import check
from .student.predict import predict, recap, reveal
from .student.progress import progress

__all__ = ["check", "plot", "predict", "progress", "recap", "reveal"]
