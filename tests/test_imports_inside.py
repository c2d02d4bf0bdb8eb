"""A submission imports what is installed and the lesson's own modules, and nothing that it writes."""

from dataclasses import replace

import nbformat
import pytest

from autograder.authoring.sample_submissions import submission

from .conftest import needs_sandbox
from .graded import graded, handed_in

pytestmark = needs_sandbox
WRITE = "import pathlib, sys, os\npathlib.Path('{file}').write_text('print(\"what was written\")')\n"
WAYS = {
    "under an allowed name": ("statistics.py", "import statistics"),
    "where the lesson's modules were": ("/scratch/work/einops.py", "import einops"),
    "a package": ("/scratch/rich.py", "import rich"),
    "after a line about the path": ("einops.py", "sys.path.insert(0, '.')\nimport einops"),
    "by a link": (
        "einops.py",
        "os.symlink('/scratch', '/scratch/a')\nsys.path.insert(0, '/scratch/a/work')\nimport einops",
    ),
    "in another folder": ("/dev/shm/einops.py", "sys.path.insert(0, '/dev/shm')\nimport einops"),
    "over a lesson's module": ("/scratch/work/own.py", "import own\nprint(own.VALUE)"),
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_a_submission_writes_is_imported(package, way: str) -> None:
    file, then = WAYS[way]
    before = "import os\nif os.path.exists('own.py'): os.chmod('own.py', 0o666)\n"
    notebook = submission(package, {})
    notebook.cells += [
        nbformat.v4.new_code_cell(before + WRITE.format(file=file), id="w"),
        nbformat.v4.new_code_cell(f"import os, sys\n{then}", id="x"),
    ]
    lesson = replace(package, data={**package.data, "own.py": b"VALUE = 'as it was'"})
    made = graded(handed_in(lesson, notebook))
    shown = str([cell["outputs"] for cell in made["cells"] if cell["id"] in "wx"])
    assert "what was written" not in shown
    assert "own.py" not in file or "as it was" in shown
