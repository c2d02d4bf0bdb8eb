"""Reading what students can write: plain files of bounded size, never through a link.

Every step of a path is opened relative to the folder before it, and what was opened is what is checked and read, so
nothing can be swapped in between. Little is imported here: the process that reads for others begins quickly.
"""

from __future__ import annotations

import os
import pwd
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from errno import EIO, ESTALE, ETIMEDOUT
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ..errors import SubmissionError, UnansweredError, escaped, notebook_too_large, one_line

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC  # without waiting for a pipe's writer
MOST_LISTED = 10
FOR_A_MOMENT = (EIO, ESTALE, ETIMEDOUT)  # what a file system says that is away, and may come back
NAMELESS = -2  # whose something is that belongs to an id without a name: a user can have thousands of them
NAMES_SECONDS = 2.0  # for finding out whose many things are: what there is no time for is asked again
KNOWN_SECONDS = 60.0  # in which it is taken as known whether an id has a name
KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISREG, "a file"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


@contextmanager
def open_folder(root: Path | int, parts: Sequence[str] = ()) -> Iterator[int]:
    """Give a descriptor of a folder.

    Args:
        root: where to begin, a descriptor or a path; links on the way to it are followed.
        parts: the names from there to the folder; links among them are not followed.

    Raises:
        FileNotFoundError: there is nothing of that name.
        SubmissionError: one of them is no folder, or cannot be opened.
    """
    try:
        descriptor = os.dup(root) if isinstance(root, int) else os.open(root, FOLDER)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unread(f"{root} cannot be opened", error) from error
    try:
        for part in parts:
            parent, descriptor = descriptor, _subfolder(descriptor, part)
            os.close(parent)
        yield descriptor
    finally:
        os.close(descriptor)


def _subfolder(parent: int, name: str) -> int:
    try:
        kind = file_kind(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
        if kind != "a folder":
            raise SubmissionError(f"{escaped(name)} is {kind}, not a folder")
        return os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unread(f"{escaped(name)} cannot be opened", error) from error


@contextmanager
def open_plain(folder: int, name: str, most: int | None = None, owner: int | None = None) -> Iterator[BinaryIO]:
    """Give a file to read from.

    Args:
        folder: a descriptor of the folder that it is in.
        name: its name there.
        most: the bytes that it may have.
        owner: the user id that it has to belong to. Whoever owns it then has no other name for it either: a hard link
            would make one of somebody else's files look like this one.

    Raises:
        FileNotFoundError: there is nothing of that name.
        SubmissionError: it is not a plain file, too large, somebody else's, or cannot be opened.
    """
    try:  # looks first: opening may act on a device
        refuse_odd(name, os.stat(name, dir_fd=folder, follow_symlinks=False), most, owner)
        descriptor = os.open(name, FILE, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unread(f"{escaped(name)} cannot be read", error) from error
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
        refuse_odd(name, os.fstat(descriptor), most, owner)
        yield stream


def read_plain(folder: int, name: str, most: int, owner: int | None = None) -> bytes:
    """Return a file's content. Takes and raises what `open_plain` does."""
    with open_plain(folder, name, most, owner) as stream:
        try:
            content = stream.read(most + 1)
        except OSError as error:
            raise unread(f"{escaped(name)} cannot be read", error) from error
    if len(content) > most:  # it grew
        raise SubmissionError(f"{escaped(name)} is {size_problem(name, most)}")
    return content


def unread(what: str, error: OSError) -> SubmissionError:
    """Return what to raise where something cannot be read; an UnansweredError where that may pass."""
    kind = UnansweredError if error.errno in FOR_A_MOMENT else SubmissionError
    return kind(f"{what} ({one_line(error.strerror or type(error).__name__)})")


def refuse_odd(name: str, status: os.stat_result, most: int | None, owner: int | None) -> None:
    """Raise SubmissionError where this is not a plain file of that owner and of at most that size."""
    kind, problem = file_kind(status.st_mode), ""
    if kind != "a file":
        problem = f"{kind}, not a file"
    elif owner is not None and status.st_uid != owner:
        problem = "somebody else's file"
    elif owner is not None and status.st_nlink > 1:
        problem = "a file with a second name (a hard link)"
    elif most is not None and status.st_size > most:
        problem = size_problem(name, most)
    if problem:
        raise SubmissionError(f"{escaped(name)} is {problem}")


def size_problem(name: str, most: int) -> str:
    """Say that a file is too large."""
    return notebook_too_large(most) if name.endswith(".ipynb") else f"larger than {most} bytes"


def file_kind(mode: int) -> str:
    """Say what a file's mode makes it, in words."""
    return next((words for applies, words in KINDS if applies(mode)), "a device")


def read_below(root: Path, path: Path, most: int) -> bytes:
    """Return the content of a plain file below a folder. Raises as `open_folder` and `read_plain` do."""
    *folders, name = path.relative_to(root).parts
    with open_folder(root, folders) as folder:
        return read_plain(folder, name, most)


@dataclass(frozen=True)
class FolderContent:
    """What was read of a folder.

    Args:
        status: the folder's.
        files: the content of those files that are there, by name.
        statuses: theirs, after they were read.
        listing: the first names in the folder, as text.
    """

    status: os.stat_result
    files: Mapping[str, bytes]
    statuses: Mapping[str, os.stat_result]
    listing: str


def read_folder(root: int, name: str, most: Mapping[str, int], owner: int) -> FolderContent:
    """Return some of a folder's files.

    Args:
        root: a descriptor of the folder that it is in.
        name: its name there.
        most: how many bytes each file may have, by its name; after one that is not there, no other is read.
        owner: the user id that each has to belong to.

    Raises:
        FileNotFoundError: there is no such folder.
        SubmissionError: it is no folder, or one of the files cannot be read.
    """
    files, statuses = {}, {}
    with open_folder(root, (name,)) as folder:
        status = os.fstat(folder)
        for file, size in most.items():
            try:
                content = read_plain(folder, file, size, owner)
                statuses[file] = os.stat(file, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                break
            files[file] = content
        return FolderContent(status, files, statuses, listing(folder))


def status_in(root: int, name: str) -> os.stat_result:
    """Return the status of what has a name in a folder, given by its descriptor; links are not followed."""
    return os.stat(name, dir_fd=root, follow_symlinks=False)


def owners_in(root: int, _name: str, names: Sequence[str]) -> dict[str, int]:
    """Return the accounts that names in a folder, given by its descriptor, belong to; without those that are gone.

    Those that there was no time to ask about are left out too: each id without a name can take a directory service's
    patience.
    """
    owners, ends = {}, time.monotonic() + NAMES_SECONDS
    for name in names:
        with suppress(OSError):
            owners[name] = named(status_in(root, name).st_uid)
        if time.monotonic() > ends:
            break
    return owners


def named(uid: int) -> int:
    """Return a user id, or what stands for all that have no name; what is known of one is kept for a while."""
    return named_at(uid, int(time.monotonic() // KNOWN_SECONDS))


@lru_cache(maxsize=2**16)
def named_at(uid: int, _moment: int) -> int:
    """Return it as it is at a moment: what knows the names may be away just then."""
    try:
        return pwd.getpwuid(uid).pw_uid
    except KeyError:
        return NAMELESS


def listing(folder: int) -> str:
    """Return the first names in a folder, as text; 'nothing' where it is empty."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MOST_LISTED + 1)]
    return ", ".join([*map(escaped, sorted(names[:MOST_LISTED])), *["…"] * (len(names) > MOST_LISTED)]) or "nothing"
