"""The settings that a program has only one of, and that a function must leave as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

# what a student reads where one was left changed
CHANGED_SETTINGS = {
    "gradients": "It leaves gradients switched off or on for all code that runs later: use `with torch.no_grad():`.",
    "default dtype": "It changes PyTorch's default dtype for all that runs later: pass dtype= where it is needed.",
    "default device": "It changes PyTorch's default device for all that runs later: pass device= where it is needed.",
    "seed": "It seeds the random numbers that the whole program shares: use a torch.Generator of its own.",
    "threads": "It changes how many threads PyTorch uses, for all code that runs later.",
    "deterministic algorithms": "It changes torch.use_deterministic_algorithms for all code that runs later.",
    "print options": "It changes how tensors are printed from now on: restore the print options.",
    "NumPy's print options": "It changes how arrays are printed from now on: use `with np.printoptions(...):`.",
    "NumPy's error handling": "It changes what NumPy does about overflow from now on: use `with np.errstate(...):`.",
}


def settings_now() -> dict[str, Any]:
    """Return all settings by name, in a form that can be compared."""
    return {
        "gradients": (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()),
        "default dtype": torch.get_default_dtype(),
        "default device": torch.get_default_device(),
        "seed": torch.default_generator.initial_seed(),
        "threads": torch.get_num_threads(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "print options": dict(vars(torch._tensor_str.PRINT_OPTS)),
        "NumPy's print options": np.get_printoptions(),
        "NumPy's error handling": np.geterr(),
    }


def changed_settings(before: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the settings that are no longer what they were."""
    now = settings_now()
    return tuple(name for name, setting in before.items() if now[name] != setting)
