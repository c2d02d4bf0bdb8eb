"""The floor: the processor seconds of a submission's cells and asserts alone, in a process where all is loaded."""

from __future__ import annotations

import os
import struct
import tempfile
import time
from pathlib import Path

from autograder.judging.answer_key import Kit
from autograder.authoring.notebook import read_notebook
from autograder.grading.sandbox.fork_server import warmed

from .classes import stock_class

CLASS = 12


def floor_seconds(kit: Kit) -> float:
    """Return the mean over a class of right, wrong and unsolved notebooks."""
    with tempfile.TemporaryDirectory() as folder:
        root = stock_class(kit, CLASS, Path(folder) / "stock")
        notebooks = sorted(root.glob(f"submitted/*/{kit.lesson.name}/*.ipynb"))
        place, files = Path.cwd(), root / "release" / kit.lesson.name
        os.chdir(files)
        try:
            return sum(alone(path) for path in notebooks) / len(notebooks)
        finally:
            os.chdir(place)


def alone(notebook: Path) -> float:
    """Run a notebook's cells in a warm process of its own; return the processor seconds of the cells."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            shell = warmed()
            began = time.process_time()
            for cell in read_notebook(notebook).cells:
                if cell.cell_type == "code":
                    shell.run(cell.source, 2**20)
            os.write(writing, struct.pack("d", time.process_time() - began))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        return float(struct.unpack("d", pipe.read())[0])
