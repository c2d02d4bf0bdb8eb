"""`python -m benchmarks.lab`: 200 students' half hour in five minutes: they check, hand in, and read their feedback.

What `check` tells the class board goes through the students' own code, a queue in a file and a thread's work. Beside
it, students hand notebooks in to an exchange that `lessons serve` watches. Fails where something is lost or doubled,
where the board was older than two seconds, or where feedback takes a minute.
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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import requests

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.attempts import read_attempts
from autograder.classroom.gradebook import open_gradebook, scores_by_student
from autograder.paths import Course, find_course
from autograder.student import telling
from tests.board_hub import TEACHER, running
from tests.handing_in import add_exchange, hand_in, page_of

from .classes import Classes

LESSON, SEED = "02_queries_keys_values", 5
LAB_SECONDS, MINUTES_BETWEEN_TRIES, MINUTES_BETWEEN_SUBMISSIONS, PAUSE = 1800.0, 1.2, 15.0, 60.0
OLDEST, SLOWEST = 2.0, 60.0  # seconds until the board shows a try, and until there is feedback
SAMPLES = 10
EXERCISES = ("project_qkv", "attention_scores", "attend", "copy_previous_qk")
MESSAGES = ("softmax_over_queries", "repair", "what_is_there", "exception")


def moments(draw: random.Random, minutes: float, seconds: float) -> Iterator[float]:
    """Yield when a student does something every so many minutes, in seconds after the compressed lab's begin."""
    now = 0.0
    while (now := now + draw.expovariate(1 / (60 * minutes))) < LAB_SECONDS:
        yield now * seconds / LAB_SECONDS


def tries_of(student: int, seconds: float) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield when a student checks, and what comes out."""
    draw = random.Random(SEED * 1000 + student)
    for moment in moments(draw, MINUTES_BETWEEN_TRIES, seconds):
        passed = draw.random() < 0.25
        what = {"lesson": LESSON, "exercise": draw.choice(EXERCISES), "passed": passed}
        yield moment, {**what, "message": "" if passed else draw.choice(MESSAGES)}


def serve_board(folder: Path, students: list[str]) -> None:
    """Be the service, until somebody closes the input."""
    with running(find_course(), folder, students) as board:
        print(board.address, flush=True)
        sys.stdin.read()


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


def checks(
    folder: Path, students: list[str], seconds: float, service: psutil.Process, watcher: Watcher
) -> dict[str, Any]:
    """Let all check; return how many tries were told, how old the board was, and the service's memory over time."""
    plan = sorted((when, n, what) for n in range(len(students)) for when, what in tries_of(n, seconds))
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


def measured_board(folder: Path, students: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Start the service in a process of its own, let all check, and count what it has kept."""
    command = [sys.executable, "-m", "benchmarks.lab", "--students", str(len(students)), "--serve", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        os.environ[telling.BOARD] = str(folder / "socket")
        watcher, service = Watcher(address), psutil.Process(process.pid)
        watcher.start()
        measured = checks(folder, students, options.seconds, service, watcher)
        measured["seconds"] = sum(service.cpu_times()[:2])
        headers = [{"Authorization": f"token token-of-{student}"} for student in students]
        kept = [requests.get(f"{address}tries", headers=own, timeout=30).json()["tries"] for own in headers]
        measured["kept"] = sum(map(len, kept))
        process.communicate("")
    return measured


def report_board(measured: dict[str, Any]) -> int:
    """Print what came out; return whether something was lost, doubled or late."""
    ages, memory = measured["ages"], ", ".join(f"{amount:.0f}" for amount in measured["memory"])
    print(f"{measured['told']} tries told, {measured['kept']} kept")
    print(
        f"{len(ages)} of {measured['probes']} probes seen; on the page after {ages[len(ages) // 2]:.2f} s (median), ",
        end="",
    )
    print(f"{ages[-1]:.2f} s (most); the service took {measured['seconds']:.1f} s of processor time and {memory} MiB")
    return 0 if measured["told"] == measured["kept"] and ages[-1] <= OLDEST and len(ages) == measured["probes"] else 1


class Waiting(threading.Thread):
    """Notes how long each hand-in waits for its page."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.pages, self.waited = dict[Path, float](), dict[Path, float]()

    def run(self) -> None:
        """Look again and again."""
        while True:
            for page, begun in list(self.pages.items()):
                if page.exists():
                    self.waited[page] = time.monotonic() - begun
                    del self.pages[page]
            time.sleep(0.1)


@contextlib.contextmanager
def serving(course: Course) -> Any:
    """Run `lessons serve`; give its process."""
    command = [sys.executable, "-m", "autograder", "serve", "--jobs", str(os.cpu_count() or 1)]
    with (
        (course.coursework / "serve.log").open("w") as log,
        subprocess.Popen(command, cwd=course.root, stdout=log) as served,
    ):
        try:
            yield psutil.Process(served.pid)
        finally:
            served.terminate()


def memory(process: psutil.Process) -> float:
    """Return the MiB that a process and all below it hold, what they share counted once."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error):
            total += one.memory_full_info().pss
    return total / 2**20


def submissions(course: Course, exchange: Path, texts: dict[str, str], seconds: float) -> dict[str, Any]:
    """Let all hand in as they do; return how many did, how long each waited, and the service's memory over time."""
    draws = {name: random.Random(number) for number, name in enumerate(texts)}
    minutes = MINUTES_BETWEEN_SUBMISSIONS
    plan = sorted((when, name) for name, draw in draws.items() for when in moments(draw, minutes, seconds))
    waiting, sizes, counts = Waiting(), [], dict[str, int]()
    waiting.start()
    with serving(course) as process:
        time.sleep(10)  # it starts
        begin = time.monotonic()
        for index, (when, name) in enumerate(plan):
            time.sleep(max(0.0, begin + when - time.monotonic()))
            counts[name] = counts.get(name, 0) + 1
            page = page_of(exchange, hand_in(exchange, name, texts[name], LESSON), LESSON)
            waiting.pages[page] = time.monotonic()
            if index % (len(plan) // SAMPLES or 1) == 0:
                sizes.append(memory(process))
        ends = time.monotonic() + 5 * SLOWEST
        while waiting.pages and time.monotonic() < ends:
            time.sleep(0.5)
    return {"counts": counts, "waited": sorted(waiting.waited.values()), "memory": sizes}


def problems(course: Course, measured: dict[str, Any]) -> list[str]:
    """Return what was lost, doubled or late."""
    lesson, lines = course.lesson(LESSON), []
    for name, count in measured["counts"].items():
        if len(read_attempts(course, lesson, name)) != count:
            lines.append(f"{name}: handed in {count} times, and that is not what was noted")
    with open_gradebook(course) as gradebook:
        if scores_by_student(gradebook, lesson.name).keys() != measured["counts"].keys():
            lines.append("the gradebook has others than those who handed in")
    if len(measured["waited"]) < sum(measured["counts"].values()):
        lines.append(f"{sum(measured['counts'].values()) - len(measured['waited'])} have no feedback")
    if max(measured["waited"], default=0.0) > SLOWEST:
        lines.append(f"feedback took more than {SLOWEST:g} s")
    return lines


def main() -> int:
    """Run the lab, print what came out, and return 1 where something was lost, doubled or late."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--students", type=int, default=200)
    reader.add_argument("--seconds", type=float, default=300.0, help="what half an hour is compressed to")
    reader.add_argument("--serve", help=argparse.SUPPRESS)
    options = reader.parse_args()
    if options.serve:
        serve_board(Path(options.serve), [f"student{number:03}" for number in range(options.students)])
        return 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(1) as pool:
        classes, places = Classes(find_course(), find_course().lesson(LESSON)), Path(name)
        course = Course(classes.ours(0, places / "course"))
        pause = PAUSE * options.seconds / LAB_SECONDS
        rules = f"c.ExchangeCollect.check_owner = False\nc.HandIn.pause = {pause:.0f}\n"
        exchange = add_exchange(course, places / "exchange", rules)
        texts = {who: notebook_text(submission(classes.package, e)) for who, e in classes.edits(options.students)}
        (places / "board").mkdir()
        told = pool.submit(measured_board, places / "board", list(texts), options)
        measured = submissions(course, exchange, texts, options.seconds)
        lines, waited = problems(course, measured), measured["waited"]
        print(
            f"{sum(measured['counts'].values())} handed in; feedback after {waited[len(waited) // 2]:.1f} s (median), ",
            f"{waited[len(waited) * 19 // 20]:.1f} s (one in twenty waits longer), {waited[-1]:.1f} s (most); ",
            end="",
            sep="",
        )
        print(f"memory {', '.join(f'{size:.0f}' for size in measured['memory'])} MiB")
        print("\n".join(lines), end="\n" * bool(lines))
        return report_board(told.result()) or bool(lines)


if __name__ == "__main__":
    sys.exit(main())
