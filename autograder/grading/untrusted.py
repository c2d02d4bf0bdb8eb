"""JSON from outside, a submission's or its process's, as data that can be written down again."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Any

MOST_PARTS = 400_000  # of a text: a lesson with its solutions and outputs has a hundredth of that
PART = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)  # what makes JSON's values many, and texts as wholes
# an escaped character of JSON: half of a pair has no meaning alone, and no file can hold it
ESCAPED = re.compile(r"\\(?:u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w|(?P<half>u[dD][89a-fA-F]\w\w)|.)", re.DOTALL)
ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class TooManyValuesError(ValueError):
    """JSON that is small as a text and large as data: each `{},` takes thirty times its size."""


def parse_json(content: bytes) -> Any:
    """Return the data in JSON text; what is no character becomes U+FFFD.

    Raises:
        TooManyValuesError: it holds more than anybody's. They are counted before it is read.
        ValueError: it is not JSON, or too deep, or holds a number of thousands of digits.
    """
    text = content.decode(json.detect_encoding(content), "replace")
    if next(islice(PART.finditer(text), MOST_PARTS, None), None):
        raise TooManyValuesError("too much JSON")
    try:
        if ESCAPED_HALF.search(text):
            text = ESCAPED.sub(lambda escaped: r"\ufffd" if escaped["half"] else escaped[0], text)
        return json.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError("not JSON") from error


def printable(text: str) -> str:
    """Return text that can be written to a file: half of a surrogate pair cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
