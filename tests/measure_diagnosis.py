"""How well wrong answers are explained: `python -m tests.measure_diagnosis ANSWERS.json [EXERCISE …]`.

The file is a list of objects with lesson, exercise, id, character, reason and source. Printed are, for each, the reason
that its author wanted, what a student reads at home, what is read when it is graded, and the points.
"""

import contextlib
import io
import json
import linecache
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import torch

from autograder.authoring.lesson_package import package_of
from autograder.judging.answer_key import AnswerKey
from autograder.judging.shortcuts import barred, found_in, ran_in
from autograder.judging.trial import Trials
from autograder.judging.verdict import Verdict
from autograder.paths import find_course
from autograder.student.check import ReleasedChecks

SEED = 4242


@cache
def lesson(name: str) -> tuple[AnswerKey, ReleasedChecks]:
    """Return a lesson's answer key, and what a student has of it."""
    key = package_of(find_course(Path(__file__).parent).lesson(name)).key
    released = json.loads(json.dumps(key.fingerprints()))["exercises"]
    return key, ReleasedChecks(key.visible, released, key.shortcuts)


def work_of(key: AnswerKey, answer: dict[str, str]) -> Any:
    """Define an answer as a notebook's cell does, after the lesson's set-up and the other exercises' solutions."""
    source, file = answer["source"], f"/tmp/ipykernel_1/{answer['exercise']}_{answer['id']}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {name: value for name, value in key.reference.items() if name != answer["exercise"]}
    exec(compile(source, file, "exec"), names)
    return names[answer["exercise"]]


def told(verdict: Verdict) -> str:
    """Return what a student reads."""
    failure = verdict.failure
    if not failure:
        return "everything passed"
    detail = f" | {failure.detail}" if failure.detail and not failure.mistake else ""
    return f"[{failure.mistake or failure.relation or '-'}] {failure.message}{detail}"


def measure(answer: dict[str, str]) -> tuple[str, str, str]:
    """Return what is read at home, what is read when graded, and the points."""
    key, released = lesson(answer["lesson"])
    exercise = answer["exercise"]
    with contextlib.redirect_stdout(io.StringIO()):
        work = work_of(key, answer)
        names = {**key.reference, exercise: work}
        home = released.judge(exercise, work, names)[0]
        outcomes = [check.values(work, SEED, record=True) for check in key.checks_of(exercise)]
        graded = key.verdict(exercise, SEED, outcomes, answer["source"], Trials(names, exercise).run)
    short = found_in(key.shortcuts, exercise, [answer["source"]]) or ran_in(key.shortcuts, exercise, outcomes)
    graded = barred(graded, *short) if short else graded
    return told(home), told(graded), f"{graded.points}/{graded.max_points}"


def main(path: str, *exercises: str) -> None:
    """Print the table."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for answer in json.loads(Path(path).read_text(encoding="utf-8")):
        if not exercises or answer["exercise"] in exercises:
            home, graded, points = measure(answer)
            print(f"{answer['exercise']} | {answer['id']} | {answer['character']} | {points}")
            print(
                f"  wanted: {answer['reason']}\n  home:   {home}" + (f"\n  graded: {graded}" if graded != home else "")
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
