"""How long a student waits: from the end of their own code to the card, and from a move to the frame."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from matplotlib.axes import Axes

from autograder.authoring.lesson_package import package_of
from autograder.judging.card import Card
from autograder.judging.inputs import PUBLIC_SEED
from autograder.paths import Course
from autograder.plot.drawing import png
from autograder.plot.frames import DPI, frame
from autograder.plot.widgets import draw_bars
from autograder.student.check import ReleasedChecks

TIMES = 9


def waiting(course: Course) -> list[str]:
    """Return the table's rows: per lesson the slowest card over solutions and mistakes, in milliseconds."""
    rows = []
    for lesson in course.lessons():
        key, place = package_of(lesson).key, Path.cwd()
        os.chdir(lesson.released_dir)
        try:
            files = ReleasedChecks.beside_the_notebook()
        finally:
            os.chdir(place)
        works = [(e, key.reference[e]) for e in key.exercises]
        works += [(m.exercise, m.work) for e in key.exercises for m in key.mistakes_of(e)[:3]]
        waits = [card_seconds(files, exercise, work) for exercise, work in works]
        rows.append(f"| {lesson.name} | {1000 * statistics.median(waits):.0f} | {1000 * max(waits):.0f} |")
    return rows


def card_seconds(files: ReleasedChecks, exercise: str, work: object) -> float:
    """Return the median time of a check without the time of the student's own code in it."""

    def whole() -> None:
        verdict, hidden = files.judge(exercise, work)
        card = Card(verdict, hidden_left=hidden)
        repr(card)
        card._repr_html_()

    def alone() -> None:
        for check in files.checks:
            if check.exercise == exercise:
                check.values(work, PUBLIC_SEED)

    return max(0.0, typical(whole) - typical(alone))


def frame_seconds() -> float:
    """Return the time of one frame of a moving figure."""
    weights = torch.linspace(-1, 1, 8).softmax(dim=0)

    def draw(panels: Sequence[Axes]) -> str:
        for axes in panels:
            draw_bars(axes, weights, list("abcdefgh"))
        return "bars"

    return typical(lambda: png(frame(draw, (), 2)[0], DPI))


def typical(work: Callable[[], object]) -> float:
    """Return the median seconds of some work that was done once before."""
    work()
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)
