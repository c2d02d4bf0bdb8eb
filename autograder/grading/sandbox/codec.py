"""Messages between the two processes: a JSON header and a block of safetensors.

Decoding trusts nothing: sizes and depth are bounded, and whatever is malformed raises SandboxError.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save
from torch import Tensor

from ...errors import SandboxError
from ...judging.black_box import Answer, Arguments
from ...judging.operators import MOST_NAMES
from ...judging.settings import CHANGED_SETTINGS
from ...judging.values import Lost, Other, Outcome, Raised, Returned, has_numbers, numbers_of, plain

DEEPEST = 16
MOST_NODES = 10_000
LONGEST_NAME = 80
LONGEST_TEXT = 10_000
MOST_ENTRIES = 500_000  # of all tensors together: no exercise asks for so many
DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
)
LARGEST_HEADER = 16 * 2**20
HEADER = struct.Struct(">I")


def pack(header: dict[str, Any], tensors: dict[str, Tensor] | None = None) -> bytes:
    """Return a message as bytes."""
    text = json.dumps(header).encode()
    return HEADER.pack(len(text)) + text + (save(tensors) if tensors else b"")


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return a message's header and tensors. Raises SandboxError for anything that is not a message."""
    try:
        (size,) = HEADER.unpack_from(message)
        if size > LARGEST_HEADER:
            raise ValueError("a header is small")
        body = message[HEADER.size + size :]
        header = json.loads(message[HEADER.size : HEADER.size + size])
        tensors = load(body) if body else {}
    except Exception as error:
        raise SandboxError("The submission's process sent something that is not a message.") from error
    if not isinstance(header, dict):
        raise SandboxError("The submission's process sent a message without a header.")
    return header, tensors


def pack_outcome(outcome: Outcome) -> bytes:
    """Return an outcome as a message."""
    if isinstance(outcome, Raised):
        parts = {"text": outcome.text, "where": outcome.where, "shapes": outcome.shapes}
        return pack({"raised": outcome.kind[:LONGEST_NAME], **parts})
    if isinstance(outcome, Lost):
        return pack({"lost": outcome.reason})
    tensors: dict[str, Tensor] = {}
    ran = [name[:LONGEST_NAME] for name in outcome.ran]
    beside: dict[str, Any] = {"changed": outcome.changed, "settings": outcome.settings, "ran": ran}
    return pack({"tree": encode(outcome.tree, tensors), **beside}, tensors)


def unpack_outcome(message: bytes) -> Outcome:
    """Return the outcome in a message. Raises SandboxError for a malformed one."""
    header, tensors = unpack(message)
    try:
        if "raised" in header:
            return Raised(*(str(header[key])[:500] for key in ("raised", "text", "where", "shapes")))
        if "lost" in header:
            return Lost(str(header["lost"])[:500])
        ran = tuple(str(name)[:LONGEST_NAME] for name in list(header["ran"])[:MOST_NAMES])
        settings = tuple(name for name in CHANGED_SETTINGS if name in list(header["settings"]))
        return Returned(decode(header["tree"], tensors, Allowance()), header.get("changed") is True, settings, ran)
    except SandboxError:
        raise
    except Exception as error:
        raise SandboxError("The submission's process sent a malformed value.") from error


def pack_call(name: str, arguments: Arguments) -> bytes:
    """Return a call of a black box as a message."""
    tensors: dict[str, Tensor] = {}
    return pack({"call": name, "arguments": encode_arguments(arguments, tensors)}, tensors)


def unpack_call(message: bytes) -> tuple[str, Arguments]:
    """Return the call in a message. Raises SandboxError for a malformed one."""
    header, tensors = unpack(message)
    return str(header.get("call")), decode_arguments(header.get("arguments"), tensors)


def pack_answer(answer: Answer) -> bytes:
    """Return what came of a call as a message."""
    tensors: dict[str, Tensor] = {}
    parts = {"result": encode(answer.result, tensors), "written": encode(dict(answer.written), tensors)}
    return pack({**parts, "error": answer.error}, tensors)


def unpack_answer(message: bytes) -> Answer:
    """Return what came of a call."""
    header, tensors = unpack(message)
    error = tuple(header["error"]) if header["error"] else None
    left = Allowance()
    return Answer(decode(header["result"], tensors, left), decode(header["written"], tensors, left), error)


def encode_arguments(arguments: Arguments, tensors: dict[str, Tensor]) -> Any:
    """Return a call's arguments as JSON data; tensors go into `tensors`."""
    return encode([list(arguments[0]), dict(arguments[1])], tensors)


def decode_arguments(data: Any, tensors: dict[str, Tensor]) -> Arguments:
    """Return a call's arguments. Raises SandboxError for malformed ones."""
    try:
        positional, by_name = decode(data, tensors, Allowance())
        return list(positional), dict(by_name)
    except SandboxError:
        raise
    except Exception as error:
        raise SandboxError("The submission's process sent a malformed call.") from error


def encode(tree: Any, tensors: dict[str, Tensor], depth: int = 0) -> Any:
    """Return a tree as JSON data; its tensors go into `tensors`. What is neither becomes the name of its type."""
    if isinstance(tree, Tensor):
        return encode_tensor(tree, tensors)
    if isinstance(tree, np.ndarray):
        numbers = numbers_of(tree)
        return {"array": encode_tensor(numbers, tensors)} if isinstance(numbers, Tensor) else {"other": numbers.kind}
    if tree is None or isinstance(tree, bool | str) or (isinstance(tree, int) and abs(tree) < 2**63):
        return {"plain": tree}
    if isinstance(tree, float):
        return {"plain": float(tree)} if math.isfinite(tree) else {"float": str(float(tree))}
    if isinstance(tree, list | tuple) and depth < DEEPEST:
        return {(type(tree) is list and "list") or "tuple": [encode(item, tensors, depth + 1) for item in tree]}
    if isinstance(tree, dict) and depth < DEEPEST and all(isinstance(key, str) for key in tree):
        return {"dict": [[key, encode(item, tensors, depth + 1)] for key, item in tree.items()]}
    return {"other": tree.kind if isinstance(tree, Other) else type(tree).__name__[:LONGEST_NAME]}


def encode_tensor(tensor: Tensor, tensors: dict[str, Tensor]) -> Any:
    """Put one tensor aside under a number. A tensor without plain storage becomes the name of its kind."""
    try:
        copy = plain(tensor)
        travels = has_numbers(copy) and can_travel(copy.dtype)
    except Exception:
        travels = False
    if not travels:
        return {"other": f"{type(tensor).__name__} of {tensor.dtype}"[:LONGEST_NAME]}
    name = str(len(tensors))
    tensors[name] = copy
    return {"tensor": name}


@lru_cache(maxsize=64)
def can_travel(dtype: torch.dtype) -> bool:
    """Say whether safetensors has a dtype."""
    try:
        save({"probe": torch.empty(0, dtype=dtype)})
    except Exception:
        return False
    return True


@dataclass
class Allowance:
    """What a message may still hold."""

    nodes: int = MOST_NODES
    entries: int = MOST_ENTRIES


def judgeable(tensor: Tensor, left: Allowance) -> Tensor | Other:
    """Return a tensor that a judge can calculate with, or the name of its kind where there is too much of it."""
    if tensor.dtype not in DTYPES:
        return Other(f"tensor of {tensor.dtype}")
    left.entries -= tensor.numel()
    return tensor if left.entries >= 0 else Other(f"tensor beyond {MOST_ENTRIES:,} entries")


def as_array(numbers: Any) -> Any:
    """Return a decoded tensor as the NumPy array that it was."""
    if isinstance(numbers, Other):
        return Other(f"array: {numbers.kind}"[:LONGEST_NAME])
    if not isinstance(numbers, Tensor) or numbers.dtype == torch.bfloat16:  # NumPy has none
        raise SandboxError("The submission's process sent a malformed array.")
    return numbers.numpy()


def decode(data: Any, tensors: dict[str, Tensor], left: Allowance, depth: int = 0) -> Any:
    """Return the tree that JSON data describes."""
    left.nodes -= 1
    if left.nodes < 0 or depth > DEEPEST or not isinstance(data, dict) or len(data) != 1:
        raise SandboxError("The submission's process sent a malformed value.")
    ((kind, item),) = data.items()
    if kind == "tensor":
        return judgeable(tensors.pop(item), left)  # each one once, so that a small message stays small
    if kind == "array":
        return as_array(decode(item, tensors, left, depth + 1))
    if kind == "plain" and (item is None or isinstance(item, bool | int | float | str)):
        return item[:LONGEST_TEXT] if isinstance(item, str) else item
    if kind == "float":
        return float(item)
    if kind in ("list", "tuple"):
        return [decode(inner, tensors, left, depth + 1) for inner in item]
    if kind == "dict":
        return {str(key)[:LONGEST_NAME]: decode(inner, tensors, left, depth + 1) for key, inner in item}
    if kind == "other":
        return Other(str(item)[:LONGEST_NAME])
    raise SandboxError("The submission's process sent a value of an unknown kind.")
