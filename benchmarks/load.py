"""`make bench-load`: a large class of which one in twenty is hostile or broken, graded whole, and killed ten times.

Every honest submission has to get exactly what it gets alone, and what was killed and started anew has to end with the
rows of the run that nobody disturbed. Says what it found, and fails where something differs.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import solutions, submission
from autograder.classroom.gradebook import open_gradebook, scores_by_student
from autograder.classroom.writer import read_notebook_record
from autograder.grading.grade import RECORD, grade
from autograder.grading.submission import Submission
from autograder.paths import CONFIG_NAME, Course, Lesson, find_course

from .__main__ import measured
from .classes import Classes
from .hostile import Write, hostile

BROKEN = ("{", "[]", '{"cells": []}')
LESSON, SEED, EVERY, KILLS = "02_queries_keys_values", 11, 20, 10
LIMITS = (
    "c.GradeSubmission.cell_seconds = c.GradeSubmission.check_seconds = 20\nc.GradeSubmission.total_seconds = 100\n"
)
END_SECONDS = 60.0
MOMENT = 0.5  # seconds, a few submissions long
Found = dict[str, dict[str, Any]]


def class_of(course: Course, lesson: Lesson, size: int, every: int) -> Iterator[tuple[str, Write]]:
    """Yield students with how they hand in: the class of `classes`, in which every so many is hostile or broken."""
    package, right = package_of(lesson), solutions(read_lesson(lesson))
    kinds = hostile(package, right, SEED)
    for number, (student, edits) in enumerate(Classes(course, lesson).edits(size)):
        turn, odd = divmod(number, every)
        if odd:
            text = notebook_text(submission(package, edits))
            yield f"honest_{student}", partial(Path.write_text, data=text, encoding="utf-8")
        elif turn % 5 == 4:
            yield f"broken_{student}", partial(Path.write_text, data=BROKEN[turn // 5 % len(BROKEN)])
        else:
            kind, write = next(kinds)
            yield f"hostile_{kind}_{student}", write


def make_course(course: Course, name: str, size: int, every: int, root: Path) -> Course:
    """Make a course with such a class, and shorter limits than usual, since some of it never ends."""
    made = Course(Classes(course, course.lesson(name)).ours(0, root))
    with (root / CONFIG_NAME).open("a", encoding="utf-8") as config:
        config.write(LIMITS)
    for student, write in class_of(course, course.lesson(name), size, every):
        path = made.submission(made.lesson(name), student)
        path.parent.mkdir(parents=True)
        write(path)
    return made


def command(name: str, jobs: int) -> list[str]:
    """Return what `make grade` calls."""
    return [sys.executable, "-m", "autograder", "grade", "--lesson", name, "--jobs", str(jobs), "--seed", str(SEED)]


def found_in(course: Course, lesson: Lesson) -> Found:
    """Return each student's row and what the graded notebook says: points, flags, messages."""
    with open_gradebook(course) as gradebook:
        rows = {student: row.score for student, row in scores_by_student(gradebook, lesson.name).items()}
    found: Found = {}
    for path in course.autograded.glob(f"*/{lesson.name}/*.ipynb"):
        json.loads(path.read_bytes())  # no half files
        student, record = path.parent.parent.name, read_notebook_record(path, RECORD)
        found[student] = {key: record[key] for key in ("verdicts", "flags", "submission")} | {"row": rows[student]}
    assert {student for student, points in rows.items() if points is not None} >= found.keys()
    return found


def alone(course: Course, lesson: Lesson, found: Found) -> dict[str, str]:
    """Return, by student, how an honest submission fared other than alone; each text is graded once."""
    known: dict[bytes, Mapping[str, Any]] = {}
    differ = {}
    for student in course.students(lesson):
        if student.startswith("honest"):
            content = course.submission(lesson, student).read_bytes()
            if content not in known:
                graded = json.loads(grade(Submission(content, package_of(lesson), SEED)))
                known[content] = graded["metadata"][RECORD]
            for key in ("verdicts", "flags"):
                if student not in found or found[student][key] != known[content][key]:
                    differ[student] = f"{found.get(student, {}).get(key)} in the class, {known[content][key]} alone"
    return differ


def killed_again_and_again(course: Course, name: str, jobs: int, kills: int) -> list[int]:
    """Kill grading at random moments, each followed by a new start; return how many were graded at each."""
    draw, graded, each = random.Random(SEED), [0], len(course.students(course.lesson(name))) / kills
    for _ in range(kills):
        grader = subprocess.Popen(
            command(name, jobs), cwd=course.root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        enough, moment = graded[-1] + draw.uniform(0, each), draw.uniform(0, MOMENT)
        while grader.poll() is None and len(graded_files(course, name)) < enough:
            time.sleep(0.05)
        time.sleep(moment)
        below = psutil.Process(grader.pid).children(recursive=True) if grader.poll() is None else []
        grader.send_signal(signal.SIGKILL)
        grader.communicate()
        left = psutil.wait_procs(below, END_SECONDS)[1]
        assert left == [], f"processes outlive grading: {left}"
        paths = graded_files(course, name)
        assert all(json.loads(path.read_bytes()) for path in paths)
        graded.append(len(paths))
    subprocess.run(command(name, jobs), cwd=course.root, capture_output=True, check=False)
    return graded[1:]


def graded_files(course: Course, name: str) -> list[Path]:
    """Return the graded notebooks."""
    return list(course.autograded.glob(f"*/{name}/*.ipynb"))


def unsettled(one: Found, other: Found) -> list[str]:
    """Return whose results differ between two runs. Hostile ones may fare differently: some of them race a limit."""
    honest = (student for student in one.keys() | other.keys() if student.startswith("honest"))
    return sorted(student for student in honest if one.get(student) != other.get(student))


def main() -> int:
    """Grade, compare, kill, compare again."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    options.add_argument("--size", type=int, default=600, help="how many hand in")
    options.add_argument("--lesson", default=LESSON, help="what they hand in")
    options.add_argument("--every", type=int, default=EVERY, help="one in how many is hostile or broken")
    options.add_argument("--jobs", type=int, default=2, help="how many are graded at a time")
    options.add_argument("--kills", type=int, default=KILLS, help="how often grading is killed")
    chosen, course = options.parse_args(), find_course()
    name: str = chosen.lesson
    with tempfile.TemporaryDirectory() as folder:
        quiet = make_course(course, name, chosen.size, chosen.every, Path(folder) / "quiet")
        disturbed = Course(Path(folder) / "disturbed")
        subprocess.run(["cp", "-a", quiet.root, disturbed.root], check=True)  # pipes and links, too
        run = measured(
            lambda: subprocess.run(command(name, chosen.jobs), cwd=quiet.root, capture_output=True, check=False)
        )
        found = found_in(quiet, quiet.lesson(name))
        kinds = {kind: sum(s.startswith(kind) for s in found) for kind in ("honest", "hostile", "broken")}
        print(f"{chosen.size} handed in, graded {kinds}: {run.seconds:.0f} s", flush=True)
        differ = alone(quiet, quiet.lesson(name), found)
        print(f"honest ones that fare other than alone: {differ or 'none'}", flush=True)
        counts = killed_again_and_again(disturbed, name, chosen.jobs, chosen.kills)
        again = found_in(disturbed, disturbed.lesson(name))
        lost = unsettled(found, again)
        print(f"killed when {counts} were graded; rows that differ in the end: {lost or 'none'}", flush=True)
        rest = sorted(student for student in found.keys() | again.keys() if found.get(student) != again.get(student))
        print(f"hostile ones that fared differently: {[s for s in rest if s not in lost] or 'none'}")
    return 1 if differ or lost else 0


if __name__ == "__main__":
    sys.exit(main())
