"""What cheats do where nothing stops them: cells and a naive check share one ordinary process, as in stock nbgrader.

Run as a program with a folder in which each cheat has one of its own. A cheat runs two forks deep: whatever it does to
the process that started it is seen from the one above.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch

from autograder.grading.sandbox.shell import GradingShell

SECONDS = 30.0
MOST_BYTES = 2**20
# a check as an instructor might write it by hand
NAIVE = """
def naive():
    q, k, v = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 6)
    weights = (q @ k.mT).softmax(-1)
    expected = (weights @ v if weights.dim() > 1 else weights, weights)
    got = attend(q, k, v)
    assert torch.allclose(got[1], expected[1]) if isinstance(got[1], torch.Tensor) else got[1] == expected[1]
naive()  # check(attend)
"""
ANSWER = "_q, _k, _v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)\n_got = attend(_q, _k, _v)\n"
# what happens to somebody who takes an answer as it comes
MEASURES = {
    "value too large": ANSWER + "_bad = sum(t.numel() * t.element_size() for t in _got) > 2**30",
    "value too wide": ANSWER + "_bad = sum(len(row) for row in _got[0]) > 100_000",
    "value too deep": ANSWER + "import json\ntry: json.dumps(_got[0])\nexcept RecursionError: _bad = True",
    "summary too large": "_q, _k = copy_previous_qk(3)\n_bad = _q.shape[0] * _k.shape[0] * 8 > 2**30",
    "same values": """
from autograder.judging.check import checks_in, load_module
_checks = [c for c in checks_in(load_module(open("checks.py").read(), "checks.py")) if c.exercise == "attend"]
def _right(q, k, v): return (q @ k.mT).softmax(-1) @ v, (q @ k.mT).softmax(-1)
_bad = all(str(c.values(attend, 0)) == str(c.values(_right, 0)) for c in _checks)
""",
}
LATER = "if 'look' in globals(): look()"


def run_cells(shell: GradingShell, folder: Path) -> None:
    """Run a cheat's cells, and write down after each one what it showed."""
    os.chdir(folder)
    source = Path("cheat.py").read_text(encoding="utf-8")
    control = source.split("# control: ")[1].splitlines()[0]
    measure = MEASURES.get(control, "_bad = False") + "\nif _bad: print('CHEAT SUCCEEDED')"
    shown = []
    for cell in ("import torch", source, measure if control in MEASURES else NAIVE, LATER, "'the end'"):
        shown.append(shell.run(cell, MOST_BYTES))
        Path("shown.json").write_text(json.dumps(shown, default=str), encoding="utf-8")


def be_a_grader(shell: GradingShell, folder: Path) -> None:
    """Start a cheat, wait for its end, and say that this process is still there."""
    os.setsid()
    cheat = os.fork()
    if cheat == 0:
        try:
            run_cells(shell, folder)
        finally:
            os._exit(0)
    os.waitpid(cheat, 0)
    (folder / "grader_survived").touch()
    os._exit(0)


def watch(grader: int) -> None:
    """Wait until a grader has ended or was stopped, then end all that is left of it."""
    deadline = time.monotonic() + SECONDS
    while os.waitpid(grader, os.WNOHANG | os.WUNTRACED) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.02)
    try:
        os.killpg(grader, signal.SIGKILL)
        os.waitpid(grader, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def main(root: Path) -> None:
    torch.set_num_threads(1)
    shell = GradingShell.instance()
    for folder in sorted(path.parent for path in root.rglob("cheat.py")):
        grader = os.fork()
        if grader == 0:
            be_a_grader(shell, folder)
        watch(grader)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
