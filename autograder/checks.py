"""What a lesson's checks.py and hidden.py import: `check`, `mistake`, `shortcut`, `invariant` and `Inputs`."""

from .judging.check import check, invariant, mistake
from .judging.inputs import Inputs
from .judging.shortcuts import shortcut

__all__ = ["Inputs", "check", "invariant", "mistake", "shortcut"]
