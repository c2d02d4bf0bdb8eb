"""Keras on PyTorch, where it is installed, and what both call the weights of multi-head attention."""

import os
from types import ModuleType
from typing import Any

import numpy as np

INSTALL = "Keras is not installed here: pip install keras, then restart the kernel."

# Keras reads both when it is imported
os.environ["KERAS_BACKEND"] = "torch"
os.environ.setdefault("KERAS_TORCH_DEVICE", "cpu")


def load_keras() -> ModuleType | None:
    """Return Keras, or None where it is not installed."""
    try:
        import keras
    except ImportError:
        return None
    return keras


def weights_of(layer: Any) -> dict[str, np.ndarray]:
    """Return copies of a Keras layer's weights as NumPy arrays, by name, such as "query/kernel"."""
    named = ((w.path.removeprefix(f"{layer.name}/"), w) for w in layer.weights)
    return {name: w.value.numpy(force=True).copy() for name, w in named}
