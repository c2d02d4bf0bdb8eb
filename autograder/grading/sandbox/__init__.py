"""The border between the grading process and a student's code.

Into it go the submission's cells, the source of checks and a seed. Out of it come cell outputs and values: JSON and
safetensors, never pickle, and never a verdict. `SandboxSession` is the border; a backend opens one.
"""

from ..launch import unavailable_reason
from .boxes import BOX_ENDED, BOX_MEMORY, BoxProcess, OpenLine
from .bubblewrap import BubblewrapSandbox
from .codec import CellResult
from .limits import Limits
from .pool import close_sandboxes, open_session, shared_sandbox
from .session import SandboxSession
from .unsandboxed import open_process

__all__ = [
    "BOX_ENDED",
    "BOX_MEMORY",
    "BoxProcess",
    "BubblewrapSandbox",
    "CellResult",
    "Limits",
    "OpenLine",
    "SandboxSession",
    "close_sandboxes",
    "open_process",
    "open_session",
    "shared_sandbox",
    "unavailable_reason",
]
