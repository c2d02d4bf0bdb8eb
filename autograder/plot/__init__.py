"""The figures that lessons share. Imports matplotlib, ipywidgets and torch, and nothing of the other layers."""

from .diagrams import diagram, mixture
from .matrices import crosses, curves, heads, heatmap, masks, matrices
from .widgets import click_mask, explore, slide

__all__ = [
    "click_mask",
    "crosses",
    "curves",
    "diagram",
    "explore",
    "heads",
    "heatmap",
    "masks",
    "matrices",
    "mixture",
    "slide",
]
