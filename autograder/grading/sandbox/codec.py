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
from ...judging.fingerprint import MOST_ENTRIES, TOO_LARGE
from ...judging.operators import AND_MORE, MOST_NAMES
from ...judging.settings import CHANGED_SETTINGS
from ...judging.values import Lost, Other, Outcome, Raised, Returned, has_numbers, numbers_of, plain
from ..untrusted import parse_json

# what one reply may hold; what the lessons' solutions return is a tenth of each, or less
DEEPEST = 16
MOST_VALUES = 4000
MOST_TENSORS = 400
MOST_CHARACTERS = 100_000  # of all texts together
LONGEST_NAME = 80
LONGEST_TEXT = 10_000
LONGEST_WORDS = 500  # of an exception
MOST_OUTPUTS = 10_000
LARGEST_NUMBER = 2**31  # of a cell or a process
OUTPUT_TYPES = ("stream", "display_data", "execute_result", "error")
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
SENT_DTYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
)
LARGEST_HEADER = 16 * 2**20
LARGEST_VALUES_HEADER = 2 * 2**20
LARGEST_LIST_OF_TENSORS = 2**18
LARGEST_BODY = LARGEST_LIST_OF_TENSORS + 16 * MOST_ENTRIES
HEADER, LIST_OF_TENSORS = struct.Struct(">I"), struct.Struct("<Q")


@dataclass(frozen=True)
class CellResult:
    """What one cell showed, and how many had run by then."""

    outputs: list[dict[str, Any]]
    count: int | None = None


def refuse(value: object) -> None:
    """Refuse what JSON has no form for."""
    raise TypeError(f"a message holds no {type(value).__name__}")


# C's encoder itself: a cell may change the class that `json.dumps` goes through
ENCODE = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
    None, refuse, json.encoder.encode_basestring, None, ": ", ", ", False, False, True
)


def pack(header: dict[str, Any], tensors: dict[str, Tensor] | None = None) -> bytes:
    """Return a message as bytes. Half of a surrogate pair, which nothing can hold, becomes a question mark."""
    text = "".join(ENCODE(header, 0)).encode("utf-8", "replace")
    return HEADER.pack(len(text)) + text + (save(tensors) if tensors else b"")


def unpack(message: bytes, largest_header: int = LARGEST_HEADER) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return a message's header and tensors.

    Raises:
        SandboxError: it is not a message, or larger than one may be.
    """
    try:
        (size,) = HEADER.unpack_from(message)
        if size > largest_header:
            raise ValueError("a header is small")
        header = parse_json(message[HEADER.size : HEADER.size + size])
        tensors = load_tensors(message[HEADER.size + size :])
    except Exception as error:
        raise SandboxError("The submission's process sent something that is not a message.") from error
    if not isinstance(header, dict):
        raise SandboxError("The submission's process sent a message without a header.")
    return header, tensors


def load_tensors(body: bytes) -> dict[str, Tensor]:
    """Return the tensors in a block of safetensors. Raises ValueError where there are too many or too large ones."""
    if not body:
        return {}
    if len(body) > LARGEST_BODY or LIST_OF_TENSORS.unpack_from(body)[0] > LARGEST_LIST_OF_TENSORS:
        raise ValueError("too many tensors")
    return load(body)


def whole(number: Any, least: int) -> int | None:
    """Return a whole number that counts something, None for anything else."""
    return number if type(number) is int and least <= number < LARGEST_NUMBER else None


def unpack_ready(message: bytes) -> tuple[int, int]:
    """Return the number of a process that says it is ready, and how many threads of its own were running.

    Raises:
        SandboxError: it says something else.
    """
    header, _ = unpack(message)
    pid, threads = whole(header.get("ready"), 1), whole(header.get("threads", 0), 0)
    if pid is None or threads is None:
        raise SandboxError("The submission's process did not say that it is ready.")
    return pid, threads


def unpack_result(message: bytes) -> CellResult:
    """Return a cell's result. Raises SandboxError where it is not made of notebook outputs."""
    header, _ = unpack(message)
    outputs = header.get("outputs")
    if not isinstance(outputs, list) or not all(is_output(item) for item in outputs[:MOST_OUTPUTS]):
        raise SandboxError("The submission's process sent something other than outputs.")
    return CellResult(outputs[:MOST_OUTPUTS], whole(header.get("count"), 0))


def is_output(item: Any) -> bool:
    """Say whether this is one notebook output, as far as the notebook format cares."""
    if not isinstance(item, dict) or item.get("output_type") not in OUTPUT_TYPES:
        return False
    if item["output_type"] == "stream":
        return item.get("name") in ("stdout", "stderr") and isinstance(item.get("text"), str)
    if item["output_type"] == "error":
        named = all(isinstance(item.get(key), str) for key in ("ename", "evalue"))
        lines = item.get("traceback")
        return named and isinstance(lines, list) and all(isinstance(line, str) for line in lines)
    return isinstance(item.get("data"), dict) and isinstance(item.get("metadata"), dict)


def pack_outcome(outcome: Outcome) -> bytes:
    """Return an outcome as a message."""
    if isinstance(outcome, Raised):
        parts = {"raised": outcome.kind, "text": outcome.text, "where": outcome.where, "shapes": outcome.shapes}
        return pack({key: part[:LONGEST_WORDS] for key, part in parts.items()})
    if isinstance(outcome, Lost):
        return pack({"lost": outcome.reason})
    tensors: dict[str, Tensor] = {}
    ran = [name[:LONGEST_NAME] for name in outcome.ran]
    beside: dict[str, Any] = {"changed": outcome.changed, "settings": outcome.settings, "ran": ran}
    return pack({"tree": encode(outcome.tree, tensors, ValueAllowance()), **beside}, tensors)


def unpack_outcome(message: bytes) -> Outcome:
    """Return the outcome in a message. Raises SandboxError for a malformed one."""
    header, tensors = unpack(message, LARGEST_VALUES_HEADER)
    try:
        if "raised" in header:
            return Raised(*(words(header[key], LONGEST_WORDS) for key in ("raised", "text", "where", "shapes")))
        if "lost" in header:
            return Lost(words(header["lost"], LONGEST_WORDS))
        names = list(header["ran"])
        names = names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], AND_MORE]
        ran = tuple(words(name, LONGEST_NAME) for name in names)
        settings = tuple(name for name in CHANGED_SETTINGS if name in list(header["settings"]))
        return Returned(decode(header["tree"], tensors, ValueAllowance()), header.get("changed") is True, settings, ran)
    except SandboxError:
        raise
    except Exception as error:
        raise SandboxError("The submission's process sent a malformed value.") from error


def words(text: Any, longest: int) -> str:
    """Return the beginning of a text. Raises SandboxError for anything else."""
    if not isinstance(text, str):
        raise SandboxError("The submission's process sent something other than words.")
    return text[:longest]


def pack_call(name: str, arguments: Arguments) -> bytes:
    """Return a call of a black box as a message."""
    tensors: dict[str, Tensor] = {}
    given = encode([list(arguments[0]), dict(arguments[1])], tensors, ValueAllowance())
    return pack({"call": name, "arguments": given}, tensors)


def unpack_call(message: bytes) -> tuple[str, Arguments]:
    """Return the call in a message. Raises SandboxError for a malformed one."""
    header, tensors = unpack(message, LARGEST_VALUES_HEADER)
    return words(header.get("call"), LONGEST_NAME), decode_arguments(header.get("arguments"), tensors)


def pack_answer(answer: Answer) -> bytes:
    """Return what came of a call as a message."""
    tensors: dict[str, Tensor] = {}
    left = ValueAllowance()
    parts = {"result": encode(answer.result, tensors, left), "written": encode(dict(answer.written), tensors, left)}
    return pack({**parts, "error": answer.error}, tensors)


def unpack_answer(message: bytes) -> Answer:
    """Return what came of a call."""
    header, tensors = unpack(message)
    error = tuple(header["error"]) if header["error"] else None
    left = ValueAllowance()
    return Answer(decode(header["result"], tensors, left), decode(header["written"], tensors, left), error)


def decode_arguments(data: Any, tensors: dict[str, Tensor]) -> Arguments:
    """Return a call's arguments. Raises SandboxError for malformed ones."""
    try:
        positional, by_name = decode(data, tensors, ValueAllowance())
        return list(positional), dict(by_name)
    except SandboxError:
        raise
    except Exception as error:
        raise SandboxError("The submission's process sent a malformed call.") from error


@dataclass
class ValueAllowance:
    """What a message may still hold."""

    values: int = MOST_VALUES
    tensors: int = MOST_TENSORS
    entries: int = MOST_ENTRIES  # of all tensors together
    characters: int = MOST_CHARACTERS

    def text(self, text: str, longest: int) -> str:
        """Return as much of a text as there may be."""
        cut = text[: max(min(longest, self.characters), 0)]
        self.characters -= len(cut)
        return cut


def encode(tree: Any, tensors: dict[str, Tensor], left: ValueAllowance, depth: int = 0) -> Any:
    """Return a tree as JSON data; its tensors go into `tensors`. What is neither becomes the name of its type.

    What is more than a message may hold becomes words that say so.
    """
    if isinstance(tree, Tensor):
        return encode_tensor(tree, tensors, left)
    if isinstance(tree, np.ndarray):
        numbers = numbers_of(tree)
        left.values -= 1
        if isinstance(numbers, Tensor):
            array = encode_tensor(numbers, tensors, left)
            return {"array": array} if "tensor" in array else array
        return {"other": numbers.kind}
    if isinstance(tree, str):
        return {"plain": left.text(tree, LONGEST_TEXT)}
    if tree is None or isinstance(tree, bool) or (isinstance(tree, int) and abs(tree) < 2**63):
        return {"plain": tree}
    if isinstance(tree, float):
        return {"plain": float(tree)} if math.isfinite(tree) else {"float": str(float(tree))}
    if isinstance(tree, list | tuple | dict) and depth < DEEPEST:
        return encode_container(tree, tensors, left, depth)
    return {"other": tree.kind if isinstance(tree, Other) else type(tree).__name__[:LONGEST_NAME]}


def encode_container(
    tree: list[Any] | tuple[Any, ...] | dict[Any, Any], tensors: dict[str, Tensor], left: ValueAllowance, depth: int
) -> Any:
    """Return a list, tuple or dictionary as JSON data."""
    container = "list" if type(tree) is list else "dict" if isinstance(tree, dict) else "tuple"
    left.values -= len(tree)
    if left.values < 0:
        return {"other": f"{container} beyond {MOST_VALUES:,} values"}
    if not isinstance(tree, dict):
        return {container: [encode(item, tensors, left, depth + 1) for item in tree]}
    if not all(isinstance(key, str) for key in tree):
        return {"other": type(tree).__name__[:LONGEST_NAME]}
    pairs = tree.items()
    return {container: [[left.text(key, LONGEST_NAME), encode(item, tensors, left, depth + 1)] for key, item in pairs]}


def encode_tensor(tensor: Tensor, tensors: dict[str, Tensor], left: ValueAllowance) -> Any:
    """Put one tensor aside under a number. One without plain storage, or too large, becomes the name of its kind."""
    left.tensors -= 1
    left.entries -= tensor.numel()
    if left.tensors < 0 or left.entries < 0:
        return {"other": too_much(left)}
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


def too_much(left: ValueAllowance) -> str:
    """Name a tensor that is not taken."""
    return TOO_LARGE if left.entries < 0 else f"tensor beyond {MOST_TENSORS} of them"


def judgeable(tensor: Tensor, left: ValueAllowance) -> Tensor | Other:
    """Return a tensor that a judge can calculate with, or the name of its kind where there is too much of it."""
    if tensor.dtype not in SENT_DTYPES:
        return Other(f"tensor of {tensor.dtype}")
    left.tensors -= 1
    left.entries -= tensor.numel()
    return tensor if left.tensors >= 0 and left.entries >= 0 else Other(too_much(left))


def as_array(numbers: Any) -> Any:
    """Return a decoded tensor as the NumPy array that it was."""
    if isinstance(numbers, Other):
        return Other(f"array: {numbers.kind}"[:LONGEST_NAME])
    if not isinstance(numbers, Tensor) or numbers.dtype == torch.bfloat16:  # NumPy has none
        raise SandboxError("The submission's process sent a malformed array.")
    return numbers.numpy()


def decode(data: Any, tensors: dict[str, Tensor], left: ValueAllowance, depth: int = 0) -> Any:
    """Return the tree that JSON data describes."""
    left.values -= 1
    if left.values < 0 or depth > DEEPEST or not isinstance(data, dict) or len(data) != 1:
        raise SandboxError("The submission's process sent a malformed value.")
    ((tag, item),) = data.items()
    if tag == "tensor":
        return judgeable(tensors.pop(item), left)  # each one once, so that a small message stays small
    if tag == "array":
        return as_array(decode(item, tensors, left, depth + 1))
    if tag == "plain" and isinstance(item, str):
        return left.text(item, LONGEST_TEXT)
    if tag == "plain" and (item is None or isinstance(item, bool | int | float)):
        return item if not isinstance(item, int) or abs(item) < 2**63 else Other("int")
    if tag == "float":
        return NOT_FINITE[item]
    if tag in ("list", "tuple") and isinstance(item, list):
        return [decode(inner, tensors, left, depth + 1) for inner in item]
    if tag == "dict" and isinstance(item, list):
        names = [left.text(words(key, LONGEST_NAME), LONGEST_NAME) for key, _ in item]
        return {name: decode(inner, tensors, left, depth + 1) for name, (_, inner) in zip(names, item, strict=True)}
    if tag == "other":
        return Other(words(item, LONGEST_NAME))
    raise SandboxError("The submission's process sent a value of an unknown kind.")
