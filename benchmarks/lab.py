"""`python -m benchmarks.lab`: 200 students' half hour in five minutes: they check, hand in, and read their feedback.

What `check` tells the class board goes through the students' own code, a queue in a file. Beside it, students hand
notebooks in to an exchange that `lessons serve` watches. Fails where something is lost or doubled, where the board was
older than two seconds, or where feedback takes a minute.
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
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

import psutil
import requests

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.attempts import read_attempts
from autograder.classroom.board_state import PASSED
from autograder.classroom.gradebook import open_gradebook, scores_by_student
from autograder.paths import Course, find_course
from autograder.student import telling
from tests.board_hub import TEACHER, running
from tests.handing_in import add_exchange, hand_in, page_of

from .classes import Classes

LESSON, SEED = "02_queries_keys_values", 5
LAB_SECONDS, MINUTES_BETWEEN_TRIES, MINUTES_BETWEEN_SUBMISSIONS, PAUSE = 1800.0, 1.2, 15.0, 60.0
OLDEST, SLOWEST = 2.0, 60.0  # seconds until the board shows a try, and until there is feedback
FLAT = 10.0  # MiB that a service may hold more in the end than after half, by when it has all that it keeps
REST_SECONDS = 3.0  # in which what has run ends
EXERCISES = ("project_qkv", "attention_scores", "attend", "copy_previous_qk")
Step = tuple[str, str, bool]  # a student, an exercise, and whether it was passed or begun
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


def steps(student: str, exercise: str, passed: bool) -> list[Step]:
    """Return what a try can change on the page: somebody has begun with an exercise, and has passed it."""
    return [(student, exercise, False), *([(student, exercise, True)] if passed else [])]


def follow(address: str, seen: dict[Step, float]) -> None:
    """Be a teacher's page: note when it first shows each step."""
    headers = {"Authorization": f"token {TEACHER}"}
    with (
        contextlib.suppress(requests.RequestException),  # such as the service's end
        requests.get(f"{address}events?lesson={LESSON}", headers=headers, stream=True) as answer,
    ):
        for line in answer.iter_lines():
            if line.startswith(b"data: "):
                page, now = json.loads(line[6:]), time.monotonic()
                for student in page["students"]:
                    for exercise, state in zip(page["exercises"], student["states"], strict=True):
                        for step in steps(student["name"], exercise, state == PASSED) if state else ():
                            seen.setdefault(step, now)


def tell(queue: Path, what: dict[str, Any] | None) -> None:
    """Do what `check` does, and what its thread does, with the token of the student that the queue is named after."""
    if what:
        telling.append(queue, {"id": os.urandom(16).hex(), "time": time.time(), **what})
    if lines := telling.read_lines(queue):
        connection = telling.connection_to(os.environ[telling.BOARD])
        with contextlib.closing(connection):
            body = f'{{"tries": [{", ".join(lines)}]}}'.encode()
            connection.request("POST", "/tries", body, {"Authorization": f"token token-of-{queue.stem}"})
            if connection.getresponse().status == telling.DONE:
                telling.take_out(queue, lines)


def board_problems(folder: Path, students: list[str], seconds: float, labs: int) -> list[str]:
    """Start the board in a process of its own, let all check; print what came out, and return what went wrong."""
    command = [sys.executable, "-m", "benchmarks.lab", "--students", str(len(students)), "--serve", str(folder)]
    one = sorted((when, n, what) for n in range(len(students)) for when, what in tries_of(n, seconds))
    plan = [(lab * seconds + when, n, what) for lab in range(labs) for when, n, what in one]
    told, seen, memory = dict[Step, float](), dict[Step, float](), list[float]()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address, service = process.stdout.readline().strip(), psutil.Process(process.pid)
        os.environ[telling.BOARD] = str(folder / "socket")
        threading.Thread(target=follow, args=(address, seen), daemon=True).start()
        begin = time.monotonic()
        with ThreadPoolExecutor(16) as pool:
            for index, (when, number, what) in enumerate(plan):
                time.sleep(max(0.0, begin + when - time.monotonic()))
                for step in steps(students[number], what["exercise"], what["passed"]):
                    told.setdefault(step, time.monotonic())
                pool.submit(tell, folder / f"{students[number]}.queue", what)
                if index in (len(plan) // 2, len(plan) - 1):
                    memory.append(memory_of(service))
        ends = time.monotonic() + SLOWEST
        while (left := [*folder.glob("*.queue")]) and time.monotonic() < ends:  # sent after a later check
            for queue in left:
                with contextlib.suppress(OSError, HTTPException):
                    tell(queue, None)
        headers = [{"Authorization": f"token token-of-{student}"} for student in students]
        kept = sum(len(requests.get(f"{address}tries", headers=own, timeout=30).json()["tries"]) for own in headers)
        processor = sum(service.cpu_times()[:2])
        process.communicate("")
    ages = sorted(seen[step] - moment for step, moment in told.items() if step in seen)
    print(f"{len(plan)} tries told, {kept} kept; {len(ages)} of {len(told)} steps seen, on the page after", end=" ")
    print(f"{ages[len(ages) // 2]:.2f} s (median), {ages[-1]:.2f} s (most);", end=" ")
    print(f"{processor:.1f} s of processor time; {listed(memory)}")
    wrong = {"tries were lost or doubled": kept != len(plan), "steps were not seen": len(ages) < len(told)}
    wrong[f"the board was older than {OLDEST:g} s"] = ages[-1] > OLDEST
    wrong["the board's memory grew"] = grew(memory)
    return [problem for problem, is_so in wrong.items() if is_so]


def grew(memory: Sequence[float]) -> bool:
    """Say whether a service holds more and more of what it is given.

    A megabyte for every ten submissions is 20 MiB in the second half of a lab. The first 45 to 60 MiB can go into room
    that the heap has free, so a small leak shows in several labs, one after the other.

    Args:
        memory: what it held after half of all, and in the end, in MiB.
    """
    early, late = memory
    return late - early > FLAT


def listed(memory: Sequence[float]) -> str:
    """Return what a service held."""
    return "memory {:.0f} MiB after half, {:.0f} in the end".format(*memory)


def wait_for(pages: dict[Path, float], waited: list[float]) -> None:
    """Note how long each page was waited for."""
    while True:
        for page, begun in list(pages.items()):
            if page.exists():
                waited.append(time.monotonic() - begun)
                del pages[page]
        time.sleep(0.1)


def memory_of(process: psutil.Process) -> float:
    """Return the MiB of their own that a process and all below it hold, what they share counted once.

    What is mapped from files is left out: libraries are shared with the other service, and are all of the one that is
    left when that ends.
    """
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.Error, OSError):
            rows = Path(f"/proc/{one.pid}/smaps_rollup").read_text(encoding="ascii", errors="replace").splitlines()
            total += sum(int(row.split()[1]) for row in rows if row.startswith("Pss_Anon:"))
    return total / 2**10


def at_rest(pages: dict[Path, float], service: psutil.Process) -> float:
    """Wait until nobody waits; return what a service then holds: what runs takes much, and gives it back."""
    ends = time.monotonic() + 5 * SLOWEST
    while pages and time.monotonic() < ends:
        time.sleep(0.5)
    time.sleep(REST_SECONDS)
    return memory_of(service)


def hand_in_problems(course: Course, exchange: Path, texts: dict[str, str], seconds: float, labs: int) -> list[str]:
    """Let all hand in as they do; print what came out, and return what was lost, doubled or late."""
    draws = {name: random.Random(number) for number, name in enumerate(texts)}
    minutes, lesson = MINUTES_BETWEEN_SUBMISSIONS, course.lesson(LESSON)
    one = sorted((when, name) for name, draw in draws.items() for when in moments(draw, minutes, seconds))
    plan = [(lab * seconds + when, name) for lab in range(labs) for when, name in one]
    pages, waited, counts = dict[Path, float](), list[float](), Counter[str]()
    threading.Thread(target=wait_for, args=(pages, waited), daemon=True).start()
    command = [sys.executable, "-m", "autograder", "serve", "--jobs", str(os.cpu_count() or 1)]
    with (
        (course.coursework / "serve.log").open("w") as log,
        subprocess.Popen(command, cwd=course.root, stdout=log) as service,
    ):
        time.sleep(10)  # it starts
        begin, memory = time.monotonic(), list[float]()
        for index, (when, name) in enumerate(plan):
            time.sleep(max(0.0, begin + when - time.monotonic()))
            counts[name] += 1
            pages[page_of(exchange, hand_in(exchange, name, texts[name], LESSON), LESSON)] = time.monotonic()
            if index in (len(plan) // 2, len(plan) - 1):
                looked = time.monotonic()
                memory.append(at_rest(pages, psutil.Process(service.pid)))
                begin += time.monotonic() - looked
        service.terminate()
    waited.sort()
    print(f"{len(plan)} handed in; feedback after {waited[len(waited) // 2]:.1f} s (median),", end=" ")
    print(f"{waited[len(waited) * 19 // 20]:.1f} s (one in twenty waits longer), {waited[-1]:.1f} s (most);", end=" ")
    print(listed(memory))
    noted = {name: len(read_attempts(course, lesson, name)) for name in counts}
    with open_gradebook(course) as gradebook:
        others = scores_by_student(gradebook, LESSON).keys() ^ counts.keys()
    wrong = {f"{sum(noted[n] != counts[n] for n in counts)} students' attempts are not as noted": noted != counts}
    wrong["the gradebook has others than those who handed in"] = bool(others)
    wrong[f"{len(plan) - len(waited)} have no feedback"] = len(waited) < len(plan)
    wrong[f"feedback took more than {SLOWEST:g} s"] = waited[-1] > SLOWEST
    wrong["the memory of `serve` grew"] = grew(memory)
    return [problem for problem, is_so in wrong.items() if is_so]


def main() -> int:
    """Run the lab, print what came out, and return 1 where something was lost, doubled or late."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--students", type=int, default=200)
    reader.add_argument("--seconds", type=float, default=300.0, help="what half an hour is compressed to")
    reader.add_argument("--labs", type=int, default=1, help="how many, one after the other")
    reader.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    options = reader.parse_args()
    if options.serve:
        students = [f"student{number:03}" for number in range(options.students)]
        with running(find_course(), options.serve, students) as board:
            print(board.address, flush=True)
            sys.stdin.read()
        return 0
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(1) as pool:
        classes, folder = Classes(find_course(), find_course().lesson(LESSON)), Path(name)
        course = Course(classes.ours(0, folder / "course"))
        pause = PAUSE * options.seconds / LAB_SECONDS
        rules = f"c.ExchangeCollect.check_owner = False\nc.HandIn.pause = {pause:.0f}\n"
        exchange = add_exchange(course, folder / "exchange", rules)
        texts = {who: notebook_text(submission(classes.package, e)) for who, e in classes.edits(options.students)}
        (folder / "board").mkdir()
        of_board = pool.submit(board_problems, folder / "board", list(texts), options.seconds, options.labs)
        problems = hand_in_problems(course, exchange, texts, options.seconds, options.labs) + of_board.result()
    print("\n".join(problems), end="\n" * bool(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
