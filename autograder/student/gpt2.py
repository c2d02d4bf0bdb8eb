"""`lessons gpt2`: fetches the published weights of GPT-2 small, with its tokens, which lesson 13 uses.

Nothing of it is part of the course: without a network the lesson runs its own model in the same cells.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch.hub import download_url_to_file

from ..errors import CourseError, command

REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
SOURCE = f"https://huggingface.co/openai-community/gpt2/resolve/{REVISION}"


@dataclass(frozen=True)
class PublishedFile:
    """A file as it was published: its name, its size in bytes, and its checksum."""

    name: str
    size: int
    sha256: str


FILES = (
    PublishedFile("merges.txt", 456_318, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
    PublishedFile("vocab.json", 1_042_301, "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    PublishedFile("model.safetensors", 548_105_171, "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"),
)


def folder() -> Path:
    """Return where the files are kept: in the cache of whoever runs this, beside no lesson."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attention-lessons" / "gpt2"


def missing(target: Path, files: tuple[PublishedFile, ...] = FILES) -> list[PublishedFile]:
    """Return the files that are not there whole; their checksums were compared when they came."""
    paths = {file: target / file.name for file in files}
    return [file for file, path in paths.items() if not path.is_file() or path.stat().st_size != file.size]


def fetch_gpt2(
    ask: Callable[[str], str] = input,
    source: str = SOURCE,
    target: Path | None = None,
    files: tuple[PublishedFile, ...] = FILES,
) -> str:
    """Fetch what is missing from a source into a folder, after saying what it is and asking; return what came of it.

    Raises:
        CourseError: a file did not come whole. Those that did are kept.
    """
    target = target or folder()
    absent = missing(target, files)
    if not absent:
        return f"GPT-2 is in {target} already."
    for file in absent:
        print(f"{file.name:18} {file.size:12,} bytes  sha256 {file.sha256}")
    try:
        answer = ask(f"Fetch this from {source} into {target}? [y/N] ")
    except EOFError:
        answer = ""
    if not answer.strip().lower().startswith("y"):
        return "Nothing was fetched. Lesson 13 works without it."
    target.mkdir(parents=True, exist_ok=True)
    for file in absent:
        try:
            download_url_to_file(f"{source}/{file.name}", str(target / file.name), hash_prefix=file.sha256)
        except (OSError, RuntimeError) as error:  # no network, no such file; another checksum, or not all of it
            raise CourseError(f"{file.name} was not fetched: {error}. `{command('gpt2')}` tries again.") from error
    return f"GPT-2 is in {target}. Run lesson 13 again to use it."
