"""What a run has to know of an executor whose workers are not this process's own threads."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import Executor


class WorkersElsewhere(Executor):
    """An executor whose workers isolate submissions by themselves, and come and go while a run is under way."""

    @property
    @abstractmethod
    def at_once(self) -> int:
        """How many submissions should be under way now: enough that no worker waits for the next one."""
