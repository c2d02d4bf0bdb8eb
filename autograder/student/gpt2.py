"""`lessons gpt2`: fetches the published weights of GPT-2 small, with its tokens, which lesson 13 uses.

Nothing of it is part of the course: without a network the lesson runs its own model in the same cells.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from tqdm import tqdm

from ..errors import CourseError, command
from ..paths import file_digest

REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"
SOURCE = f"https://huggingface.co/openai-community/gpt2/resolve/{REVISION}"
SECONDS = 60  # without a byte
PIECE = 2**20


@dataclass(frozen=True)
class PublishedFile:
    """A file as it was published.

    Args:
        name: how it is called, there and here.
        size: in bytes.
        sha256: its checksum.
    """

    name: str
    size: int
    sha256: str


FILES = (
    PublishedFile("merges.txt", 456_318, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"),
    PublishedFile("vocab.json", 1_042_301, "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"),
    PublishedFile("model.safetensors", 548_105_171, "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"),
)


class DownloadError(CourseError):
    """A published file could not be fetched."""

    def __init__(self, file: PublishedFile, problem: str) -> None:
        super().__init__(f"{file.name}: {problem} `{command('gpt2')}` tries again.")


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
    """Fetch what is missing, after saying what that is and asking; return what came of it.

    Args:
        ask: asks a question and returns the answer.
        source: the address before a file's name.
        target: the folder for the files.
        files: which ones.

    Raises:
        DownloadError: a file did not come whole. What has come of it is kept, and the next call goes on from there.
    """
    target = target or folder()
    wanted = missing(target, files)
    if not wanted:
        return f"GPT-2 is in {target} already."
    for file in wanted:
        print(f"{file.name:18} {file.size:12,} bytes  sha256 {file.sha256}")
    try:
        answer = ask(f"Fetch this from {source} into {target}? [y/N] ")
    except EOFError:
        answer = ""
    if not answer.strip().lower().startswith("y"):
        return "Nothing was fetched. Lesson 13 works without it."
    target.mkdir(parents=True, exist_ok=True)
    for file in wanted:
        fetch(file, source, target)
    return f"GPT-2 is in {target}. Run lesson 13 again to use it."


def fetch(file: PublishedFile, source: str, target: Path) -> None:
    """Fetch one file into a folder, from where an earlier attempt stopped. Raises DownloadError."""
    part = target / f"{file.name}.part"
    begun = part.stat().st_size if part.is_file() else 0
    if begun > file.size:
        part.unlink()
        begun = 0
    if begun < file.size:
        try:
            download(file, f"{source}/{file.name}", part, begun)
        except HTTPError as error:
            raise DownloadError(file, f"the server answered {error.code}, {error.reason}.") from error
        except (URLError, OSError) as error:
            raise DownloadError(file, f"it could not be fetched ({getattr(error, 'reason', error)}).") from error
    if part.stat().st_size != file.size:
        raise DownloadError(file, f"{part.stat().st_size:,} of {file.size:,} bytes came, and are kept.")
    if file_digest(part) != file.sha256:
        part.unlink()
        raise DownloadError(file, "its checksum is not that of the published file, so it was thrown away.")
    part.replace(target / file.name)


def download(file: PublishedFile, address: str, part: Path, begun: int) -> None:
    """Append to a file what is missing of it, or write all of it where the server starts anew."""
    request = Request(address, headers={"Range": f"bytes={begun}-"} if begun else {})
    with urlopen(request, timeout=SECONDS) as reply:
        begun = begun if reply.status == 206 else 0
        announced = begun + int(reply.headers.get("Content-Length") or file.size - begun)
        if announced != file.size:
            raise DownloadError(file, f"the server has {announced:,} bytes of that name, not {file.size:,}.")
        with (
            part.open("ab" if begun else "wb") as out,
            tqdm(total=file.size, initial=begun, unit="B", unit_scale=True, desc=file.name) as bar,
        ):
            while piece := reply.read(PIECE):
                out.write(piece)
                bar.update(len(piece))
