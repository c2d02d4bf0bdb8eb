"""A folder in the exchange: what its name, the account that it belongs to, and the system say of it."""

from __future__ import annotations

import datetime
import os
import pwd
from contextlib import suppress
from dataclasses import dataclass

from ..errors import SubmissionError, UnfinishedError, escaped
from .plain_files import NAMELESS, FolderContent
from .rules import EARLIEST, LATEST
from .submissions import SECRET

WRITTEN = "%Y-%m-%d %H:%M:%S.%f UTC"


@dataclass(frozen=True)
class Delivery:
    """A folder in the exchange, as its name describes it.

    Args:
        folder: its name.
        student: whose work it says it is.
        handed_in: when its name says that it was handed in, UTC. It decides which of a student's folders is the latest.
        arrived: when the system last saw the folder change, UTC.
        owner: the user id of the account that it belongs to.
    """

    folder: str
    student: str
    handed_in: datetime.datetime
    arrived: datetime.datetime
    owner: int


def ordered_deliveries(deliveries: list[Delivery], due: datetime.datetime | None) -> list[Delivery]:
    """Return one student's folders, the one that counts first: the latest that is not late, where that matters."""
    latest_first = sorted(deliveries, key=lambda delivery: delivery.handed_in, reverse=True)
    return sorted(latest_first, key=lambda delivery: delivery.arrived > due) if due else latest_first


def changed_at(status: os.stat_result) -> datetime.datetime:
    """Return when the system last saw something change, UTC. Nobody can set that, where the exchange is on a disk.

    Raises:
        SubmissionError: the file system, which can be a student's own, says what is no time.
    """
    with suppress(ValueError, OverflowError, OSError):
        changed = datetime.datetime.fromtimestamp(status.st_ctime, datetime.UTC).replace(tzinfo=None)
        if EARLIEST <= changed <= LATEST:
            return changed
    raise SubmissionError("the file system says no time of its last change")


def secret_in(found: FolderContent) -> bytes:
    """Return the secret that nbgrader has put beside a notebook.

    Raises:
        UnfinishedError: there is none, which nbgrader writes last.
        SubmissionError: nbgrader cannot read it: it would release nobody's feedback then.
    """
    if SECRET not in found.files:
        raise UnfinishedError(f"no {SECRET}: it was not handed in with the button Submit")
    secret = found.files[SECRET]
    if not secret.isascii() or not secret.strip():
        raise SubmissionError(f"{SECRET} is not nbgrader's")
    return secret


def uid_of(student: str) -> int | None:
    """Return the user id of the account of exactly that name; None where there is none.

    A directory service may find one account by several spellings of its name, which would be as many students.
    """
    try:
        entry = pwd.getpwnam(student)
    except (KeyError, ValueError, UnicodeError):
        return None
    return entry.pw_uid if entry.pw_name == student else None


def account(uid: int) -> str:
    """Return the name of the account with that user id."""
    try:
        return escaped(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return "accounts without a name" if uid == NAMELESS else f"the account {uid}, which has no name"
