"""Checks for notebook lessons. A lesson imports `check`, `plot`, `predict`, `recap` and `reveal` from here."""

from . import plot
from .home import check
from .predict import predict, recap, reveal
from .progress import progress

__all__ = ["check", "plot", "predict", "progress", "recap", "reveal"]
