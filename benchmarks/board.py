"""`python -m benchmarks.board`: 200 students in half an hour's lab, compressed, tell the board what `check` tells it.

Every try goes through the students' own code, a queue in a file and a thread's work. Fails where a try is lost or
doubled, or where the board was older than two seconds; says how much memory and processor time the service took.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import requests

from autograder.paths import find_course
from autograder.student import telling
from tests.board_hub import TEACHER, running

LESSON, SEED = "02_queries_keys_values", 5
LAB_SECONDS, MINUTES_BETWEEN_TRIES = 1800.0, 1.2
OLDEST = 2.0  # seconds
EXERCISES = ("project_qkv", "attention_scores", "attend", "copy_previous_qk")
MESSAGES = ("softmax_over_queries", "repair", "relation:transposed", "what_is_there", "exception")


def serve(folder: Path, students: list[str]) -> None:
    """Be the service, until somebody closes the input."""
    with running(find_course(), folder, students) as board:
        print(board.address, flush=True)
        sys.stdin.read()


def moments(student: int, seconds: float) -> list[tuple[float, dict[str, Any]]]:
    """Return when a student checks, in seconds after the lab's begin as it is compressed, and what comes out."""
    draw, now, found = random.Random(SEED * 1000 + student), 0.0, []
    while True:
        now += draw.expovariate(1 / (60 * MINUTES_BETWEEN_TRIES))
        if now > LAB_SECONDS:
            return found
        passed = draw.random() < 0.25
        what = {"lesson": LESSON, "exercise": draw.choice(EXERCISES), "passed": passed}
        found.append((now * seconds / LAB_SECONDS, {**what, "message": "" if passed else draw.choice(MESSAGES)}))


class Watcher(threading.Thread):
    """A teacher's page: notes when each student's latest try was first seen."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self.address, self.seen = address, dict[str, float]()

    def run(self) -> None:
        """Follow the events; the probe's message names the moment that it was told."""
        with contextlib.suppress(requests.RequestException):  # such as the service's end
            self.follow({"Authorization": f"token {TEACHER}"})

    def follow(self, headers: dict[str, str]) -> None:
        """Note every message with the moment in which it was first seen."""
        with requests.get(f"{self.address}events?lesson={LESSON}", headers=headers, stream=True) as answer:
            for line in answer.iter_lines():
                if line.startswith(b"data: "):
                    state = json.loads(line[6:])
                    for exercise in state["messages"].values():
                        for message in exercise:
                            self.seen.setdefault(message["id"], time.monotonic())


def tell(folder: Path, student: str, what: dict[str, Any]) -> None:
    """Do what `check` does, and what its thread does, with this student's token."""
    queue = folder / f"{student}.queue"
    telling.append(queue, {"id": os.urandom(16).hex(), "time": time.time(), **what})
    lines = telling.read_lines(queue)
    status, _ = told(student, f'{{"tries": [{", ".join(lines)}]}}'.encode())
    if status == telling.DONE:
        telling.take_out(queue, lines)


def told(student: str, body: bytes) -> tuple[int, bytes]:
    """Send a request as a student's server."""
    connection = telling.connection_to(os.environ[telling.BOARD])
    try:
        connection.request("POST", "/tries", body, {"Authorization": f"token token-of-{student}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def lab(folder: Path, students: list[str], seconds: float, service: psutil.Process, watcher: Watcher) -> dict[str, Any]:
    """Run the lab; return how many tries were told, how old the board was, and the service's memory over time."""
    plan = sorted((when, n, what) for n in range(len(students)) for when, what in moments(n, seconds))
    begin, memory, probes = time.monotonic(), [], {}
    with ThreadPoolExecutor(16) as pool:
        for index, (when, number, what) in enumerate(plan):
            time.sleep(max(0.0, begin + when - time.monotonic()))
            if index % 25 == 0 and not what["passed"]:  # a message that nobody has seen before: when is it on the page?
                what["message"] = f"probe-{index}"
                probes[what["message"]] = time.monotonic()
            pool.submit(tell, folder, students[number], what)
            if index % (len(plan) // 10 or 1) == 0:
                memory.append(service.memory_info().rss / 2**20)
    time.sleep(3)
    for student in students:  # what could not be sent is sent after a later check
        lines = telling.read_lines(folder / f"{student}.queue")
        if lines:
            told(student, f'{{"tries": [{", ".join(lines)}]}}'.encode())
    ages = sorted(watcher.seen[name] - moment for name, moment in probes.items() if name in watcher.seen)
    return {"told": len(plan), "ages": ages, "probes": len(probes), "memory": memory}


def main() -> int:
    """Run the lab, print what came out, and return 1 where something was lost, doubled or late."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--students", type=int, default=200)
    reader.add_argument("--seconds", type=float, default=300.0, help="what half an hour is compressed to")
    reader.add_argument("--serve", help=argparse.SUPPRESS)
    options = reader.parse_args()
    students = [f"student{number:03d}" for number in range(options.students)]
    if options.serve:
        serve(Path(options.serve), students)
        return 0
    with tempfile.TemporaryDirectory() as name:
        return report(measured(Path(name), students, options))


def measured(folder: Path, students: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Start the service in a process of its own, run the lab against it, and count what it has kept."""
    command = [sys.executable, "-m", "benchmarks.board", "--students", str(len(students)), "--serve", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        os.environ[telling.BOARD] = str(folder / "socket")
        watcher, service = Watcher(address), psutil.Process(process.pid)
        watcher.start()
        found = lab(folder, students, options.seconds, service, watcher)
        found["seconds"] = sum(service.cpu_times()[:2])
        headers = [{"Authorization": f"token token-of-{student}"} for student in students]
        kept = [requests.get(f"{address}tries", headers=own, timeout=30).json()["tries"] for own in headers]
        found["kept"] = sum(map(len, kept))
        process.communicate("")
    return found


def report(found: dict[str, Any]) -> int:
    """Print what came out; return whether something was lost, doubled or late."""
    ages, memory = found["ages"], ", ".join(f"{amount:.0f}" for amount in found["memory"])
    print(f"{found['told']} tries told, {found['kept']} kept")
    print(
        f"{len(ages)} of {found['probes']} probes seen; on the page after {ages[len(ages) // 2]:.2f} s (median), ",
        end="",
    )
    print(f"{ages[-1]:.2f} s (most); the service took {found['seconds']:.1f} s of processor time and {memory} MiB")
    return 0 if found["told"] == found["kept"] and ages[-1] <= OLDEST and len(ages) == found["probes"] else 1


if __name__ == "__main__":
    sys.exit(main())
