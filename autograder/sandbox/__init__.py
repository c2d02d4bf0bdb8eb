"""The border between the grading process and a student's code.

Into it go the submission's cells, the source of one check at a time, and a seed. Out of it come cell outputs and
values: JSON and safetensors, never pickle, and never a verdict. `Session` is the border; a backend opens one.
"""

from .bubble import Bubble, missing
from .client import CellResult, Session
from .limits import Limits
from .process import open_process

__all__ = ["Bubble", "CellResult", "Limits", "Session", "missing", "open_process"]
