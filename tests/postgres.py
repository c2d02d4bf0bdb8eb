"""A PostgreSQL server of the tests' own: in a temporary folder, on loopback, gone when they are done."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from .waiting import free_port

OWNER, PASSWORD = "teacher", "open-sesame"
START_SECONDS = 600.0
# nobody needs the data after a power failure
SETTINGS = ("max_connections=50", "shared_buffers=128MB", "fsync=off", "full_page_writes=off")


def binaries() -> Path | None:
    """Return the folder with PostgreSQL's programs: Debian's newest, or where the shell finds them."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    found = debian[-1:] or [Path(path) for path in [shutil.which("initdb")] if path]
    return found[0].parent if found else None


needs_postgres = pytest.mark.skipif(binaries() is None, reason="no PostgreSQL server (`apt install postgresql`)")


@dataclass(frozen=True)
class Server:
    """A running server.

    Args:
        port: where it listens on loopback.
        pid: the process above all that work for it.
    """

    port: int
    pid: int

    def url(self, database: str, user: str = OWNER, password: str = PASSWORD) -> str:
        return f"postgresql+psycopg://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple]:
        place = {"host": "127.0.0.1", "port": self.port, "dbname": database}
        with psycopg.connect(**place, user=OWNER, password=PASSWORD, autocommit=True) as connection:
            done = connection.execute(statement)
            return done.fetchall() if done.description else []

    def make(self, database: str, template: str = "template1") -> str:
        """Make a database; return its URL."""
        names = (sql.Identifier(database), sql.Identifier(template))
        self.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self.url(database)


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server."""
    programs = binaries()
    assert programs is not None
    with tempfile.TemporaryDirectory(prefix="postgres-") as name:
        folder, before = Path(name), as_somebody()
        secret = folder / "password"
        secret.write_text(PASSWORD)
        if before:
            os.chown(folder, somebody().pw_uid, somebody().pw_gid)
            secret.chmod(0o644)
        how = ["--auth-local=reject", "--auth-host=scram-sha-256", f"--pwfile={secret}", "--no-sync", "--no-locale"]
        make = [*before, str(programs / "initdb"), "-D", f"{folder}/data", "-U", OWNER, "-E", "UTF8", *how]
        subprocess.run(make, cwd=folder, check=True, capture_output=True)
        port, log = free_port(), folder / "log"
        listen = ["-h", "127.0.0.1", "-p", str(port), "-k", str(folder)]
        options = [part for setting in SETTINGS for part in ("-c", setting)]
        with log.open("wb") as output:
            command = [*before, str(programs / "postgres"), "-D", f"{folder}/data", *listen, *options]
            process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        server = Server(port, process.pid)
        try:
            wait_for(server, process, log)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # asks it to end now, whoever is connected
            process.wait()


def wait_for(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the server answers."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            server.execute("SELECT 1")
            return
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)


def somebody() -> pwd.struct_passwd:
    """Return a system user who owns nothing."""
    known = {user.pw_name: user for user in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def as_somebody() -> list[str]:
    """Return what goes before a command, since PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return []
    user = somebody()
    ids = ["--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]
    return ["setpriv", *ids, "--pdeathsig", "INT", "--"]
