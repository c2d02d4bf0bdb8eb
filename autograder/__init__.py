"""Checks for notebook lessons. A lesson imports `check`, `plot`, `predict` and `reveal` from here."""

from . import plot
from .home import check
from .predict import predict, reveal

__all__ = ["check", "plot", "predict", "reveal"]
