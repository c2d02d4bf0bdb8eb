"""What a lesson's checks.py and hidden.py import: `check` and a few more."""

from .judging.battery import battery
from .judging.black_box import black_box
from .judging.check import check, invariant, law
from .judging.edits import solution
from .judging.inputs import Inputs
from .judging.sentences import SHARED
from .judging.shortcuts import allow, shortcut

__all__ = ["SHARED", "Inputs", "allow", "battery", "black_box", "check", "invariant", "law", "shortcut", "solution"]
