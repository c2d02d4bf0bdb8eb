"""Accounts of the system's own, for tests of what one user can do to another."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_accounts = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("useradd") or not shutil.which("userdel"),
    reason="needs root, useradd and userdel: it makes accounts, and removes them",
)
TRIES = 1500  # another process may hold the lock on the list of accounts


@dataclass(frozen=True)
class Account:
    """A user of the system."""

    name: str
    uid: int
    gid: int


@contextmanager
def accounts(*names: str, homes: Path | None = None) -> Iterator[list[Account]]:
    """Make accounts that nobody can log in to, without homes or with homes in a folder; remove them in the end."""
    import pwd

    made, home = [], ["--create-home", "--base-dir", str(homes)] if homes else ["--no-create-home"]
    try:
        for name in (f"{name}-{os.getpid()}" for name in names):
            run_when_free("useradd", *home, "--no-user-group", "--shell", "/bin/false", name)
            entry = pwd.getpwnam(name)
            made.append(Account(name, entry.pw_uid, entry.pw_gid))
        yield made
    finally:
        for account in made:
            run_when_free("userdel", "--force", account.name)  # a process of its may be ending yet


def run_when_free(*arguments: str) -> None:
    for _ in range(TRIES):
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if "lock" not in done.stderr:
            break
        time.sleep(0.2)
    assert done.returncode == 0, done.stderr


@contextmanager
def acting_as(account: Account) -> Iterator[None]:
    """Do something with an account's rights and no others."""
    groups = os.getgroups()
    os.setgroups([])
    os.setegid(account.gid)
    os.seteuid(account.uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
