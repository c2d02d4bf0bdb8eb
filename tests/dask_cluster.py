"""A Dask cluster on this computer whose scheduler and workers are processes of their own, as on other computers."""

import json
import os
import sys
import time
from pathlib import Path

import psutil
from distributed import Client

from .waiting import wait_until

PATIENCE = 120.0  # seconds, far more than anything takes


class Cluster:
    """A scheduler and its workers, each a process of its own, as on other computers."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self._place = folder, folder / "scheduler.json"
        self.isolating: list[psutil.Popen] = []
        self.bare: psutil.Popen | None = None
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._place), *options)
        wait_until(self._place.is_file)
        wait_until(lambda: self._place.read_text().endswith("}"))
        self.address = json.loads(self._place.read_text())["address"]

    def _start(self, what: str, *options: str, **env: str) -> psutil.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / f"{what}.log").open("ab") as log:
            where = {"stdout": log, "stderr": log, "cwd": self.folder, "env": {**os.environ, **env}}
            return psutil.Popen([*command, *options], **where)

    def connect(self) -> None:
        self.client = Client(self.address, set_as_default=False)

    def workers(self) -> dict[str, int]:
        """Return the workers' addresses and process numbers."""
        return self.client.run(os.getpid)

    def start_worker(self, **env: str) -> psutil.Popen:
        """Start a worker with its nanny; return when the scheduler knows it."""
        before, name = self.workers().keys(), str(time.monotonic_ns())
        place = str(self.folder / name)
        made = self._start("worker", self.address, "--nthreads", "1", "--name", name, "--local-directory", place, **env)
        wait_until(lambda: self.workers().keys() - before)
        return made

    def have_workers(self, count: int) -> None:
        """Start or end workers until there are so many that isolate."""
        self.isolating = [worker for worker in self.isolating if worker.is_running()]
        self.isolating += [self.start_worker() for _ in range(count - len(self.isolating))]
        end_all(*self.isolating[count:])
        del self.isolating[count:]

    def close(self) -> None:
        self.client.close()
        end_all(self.scheduler, *self.isolating, *filter(None, [self.bare]))


def end_all(*processes: psutil.Process) -> None:
    """Kill processes with all that they have started, nannies first: they would start workers again."""
    for process in processes:
        if process.is_running():
            below = process.children(recursive=True)
            process.kill()
            for child in below:
                child.kill()
            psutil.wait_procs([process, *below])
