"""What `benchmarks.load` mixes into a class: submissions that cost much to read, to run or to show, or are no files."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.grading.cells import BUDGET
from autograder.grading.package import LessonPackage

CHEATS = sorted((Path(__file__).parent.parent / "tests" / "hostile" / "cheats").glob("*.py"))
CHEATED = "attend"  # the exercise that they are for
Write = Callable[[Path], object]  # puts a submission where submissions are
Notebook = dict[str, Any]

FIRST_CELLS = {
    "outputs": "from IPython.display import HTML\nfor n in range(5000): display(HTML('<b>' * 2000)); print('x' * 2000)",
    "processes": "import os\nfor _ in range(60):\n    if os.fork() == 0:\n        while True: pass",
    "memory": "hoard = []\nwhile True: hoard.append(bytes(2**24))",
    "forked_memory": "import os\nfor _ in range(40): os.fork() or exec('hoard = [1] * 2**22\\nwhile True: pass')",
    "threads": """
import threading, torch
def work():
    while True: torch.ones(300, 300) @ torch.ones(300, 300)
for _ in range(4): threading.Thread(target=work).start()
""",
    "sleep": "import time\ntime.sleep(10**6)",
}
ANSWERS = {
    "not_finite": ("attend", "def attend(query, key, value): return value * torch.nan, query @ key.mT / 0"),
    "infinities": ("attend", "def attend(*given): return tuple(torch.full((3, 5), s * torch.inf) for s in (1, -1))"),
    "broadcast": (
        "find_bugs",
        """
def find_bugs(attention):
    axes = [torch.ones(*(n if a == b else 1 for b in range(4))) for a, n in enumerate((15, 15, 1, 15))]
    while True:
        attention(axes[0], axes[1], axes[3])
""",
    ),
    "results": (
        "find_bugs",
        "def find_bugs(attention): return [attention(*[torch.ones(64, 21)] * 3).expand(99, 64, 21) for _ in range(99)]",
    ),
}


def hostile(package: LessonPackage, right: Mapping[str, str], seed: int) -> Iterator[tuple[str, Write]]:
    """Yield ways to hand in something hostile, by name, without end: each once before any comes again.

    Args:
        package: the lesson.
        right: its solutions.
        seed: in which order cheats come, of which there are more than all the others.
    """
    shuffled = random.Random(seed).sample(CHEATS, len(CHEATS))
    cheats = {path.stem: (CHEATED, path.read_text(encoding="utf-8").replace("{port}", "9")) for path in shuffled}
    while True:
        yield from {"format_3": format_3(package), "link": link, "pipe": os.mkfifo, "sparse": sparse}.items()
        yield "outputs_in_the_file", written(changed(package, right, outputs=BUDGET.bytes // 60))
        yield "statements", written(changed(package, right, *["a=a;" * (BUDGET.characters // 4)] * 10))
        yield from answers(ANSWERS, package, right)
        for name, source in FIRST_CELLS.items():
            yield name, written(changed(package, right, source))
        yield from answers(cheats, package, right)


def answers(
    cells: Mapping[str, tuple[str, str]], package: LessonPackage, right: Mapping[str, str]
) -> Iterator[tuple[str, Write]]:
    """Yield ways to hand in another answer to one of a lesson's exercises."""
    for name, (exercise, source) in cells.items():
        if exercise in package.source.exercises:
            yield name, written(changed(package, {**right, exercise: source}))


def changed(package: LessonPackage, cells: Mapping[str, str], *first: str, outputs: int = 0) -> Notebook:
    """Return a notebook with other text in some cells, more cells before all others, and outputs in its last one."""
    notebook = submission(package, cells)
    notebook.cells[:0] = map(new_code_cell, first)
    made: Notebook = json.loads(notebook_text(notebook))
    last = [cell for cell in made["cells"] if cell["cell_type"] == "code"][-1]
    last["outputs"] = [{"output_type": "stream"}] * outputs
    return made


def written(notebook: Notebook) -> Write:
    """Return what writes a notebook."""
    return lambda path: path.write_text(json.dumps(notebook), encoding="utf-8")


def format_3(package: LessonPackage) -> Write:
    """Return what writes a notebook in a format of 2015, with as many outputs as fit, which took gigabytes to read."""
    sheets = [{"cells": changed(package, {}, outputs=BUDGET.bytes // 60)["cells"]}]
    return written({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": sheets})


def link(path: Path) -> None:
    """Hand in a link to what somebody else has handed in."""
    others = sorted(path.parent.parent.parent.glob(f"honest*/{path.parent.name}"))
    path.symlink_to(os.path.relpath(others[0] / path.name, path.parent) if others else "/dev/zero")


def sparse(path: Path) -> None:
    """Hand in a file of twelve gigabytes, which takes no room on the disk."""
    path.touch()
    os.truncate(path, 12 * 2**30)
