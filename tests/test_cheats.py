"""Submissions that want points without solving. Each earns what its honest part earns, and nothing of it stays."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.classroom.run import Row, feedback, grade
from autograder.paths import Course
from autograder.authoring.notebook import read_notebook
from autograder.grading.sandbox import missing

from .conftest import LESSON

CHEATS = sorted((Path(__file__).parent / "hostile" / "cheats").glob("*.py"))
FULL, ATTEND = 12, 4
# these break PyTorch, their own processes or the replies about their other exercises
SPOIL_THEMSELVES = {
    *("fork_bomb", "patched_torch", "forged_replies", "patched_json", "all_processes_killed"),
    *("parent_signalled", "helpers_replaced", "tracer", "one_tensor_many_times"),
}
SECRETS = ("BEGIN SOLUTION", "def scores_of_a_thousand", "exp_without_care", "<script>alert", "\x1b[2J")
pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "isolated")


# what a later cell of every submission does: look for what a check may have left behind, and print it
LATER = """
import glob as _glob, os as _os
print("STASHED:", *[open(p).read() for p in _glob.glob("/tmp/*stash*") + _glob.glob("/tmp/work/*stash*")])
print("STASHED:", *[n for n in _os.listdir(".") if len(n) == 16])
if "shared" in globals():
    print("STASHED:", bytes(shared[:200]).strip(b"\\0 ").decode())
if "reading" in globals():
    _os.set_blocking(reading, False)
    try: print("STASHED:", _os.read(reading, 200))
    except OSError: pass
"""


def outputs(path: Path) -> str:
    """Return all that a notebook's cells printed and showed."""
    return "\n".join(str(o) for c in read_notebook(path).cells for o in c.get("outputs", []))


def processes_named(word: str) -> list[str]:
    """Return the command lines of running processes that hold a word."""
    listing = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listing.splitlines() if word in line and "ps -eo" not in line]


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A server on this computer that no submission can reach."""
    with socket.create_server(("127.0.0.1", 47813)) as server:
        server.settimeout(0)
        yield server


@pytest.fixture(scope="module")
def rows(classroom: Course, hand_in, right, listener) -> dict[str, Row]:
    assert listener
    os.environ["LEAKED_SECRET"] = "LEAKED"
    hand_in(classroom, "aa_good", right)
    later = LATER + right["copy_previous_qk"]
    for path in CHEATS:
        hand_in(classroom, path.stem, {**right, "attend": path.read_text(encoding="utf-8"), "copy_previous_qk": later})
    hand_in(classroom, "zz_good", right)
    try:
        graded = grade(classroom, classroom.lesson(LESSON), jobs=2, options={"cell_seconds": 6, "check_seconds": 4})
    finally:
        del os.environ["LEAKED_SECRET"]
    return {row.student: row for row in graded}


@pytest.mark.parametrize("student", ["aa_good", "zz_good"])
def test_good_submissions_beside_cheats_keep_their_points(rows: dict[str, Row], student: str) -> None:
    assert (rows[student].status, rows[student].score) == ("graded", FULL)


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda path: path.stem)
def test_a_cheat_earns_what_its_honest_part_earns(rows: dict[str, Row], cheat: Path) -> None:
    row = rows[cheat.stem]
    assert row.status == "graded", row.note
    assert row.score <= FULL - ATTEND


def test_a_disguised_shortcut_is_flagged_too(rows: dict[str, Row]) -> None:
    assert "attend uses scaled_dot_product_attention" in rows["shortcut_in_disguise"].note


def test_the_computers_devices_are_as_they_were(rows: dict[str, Row]) -> None:
    assert rows
    assert {Path(p).stat().st_mode & 0o777 for p in ("/dev/null", "/dev/full", "/dev/zero")} == {0o666}


def test_no_graded_notebook_is_large(rows: dict[str, Row], classroom: Course) -> None:
    assert rows
    paths = classroom.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb")
    assert max(path.stat().st_size for path in paths) < 40 * 2**20


def test_honest_exercises_before_and_after_a_cheat_count(rows: dict[str, Row]) -> None:
    spoilt = {name for name, row in rows.items() if row.score not in (FULL, FULL - ATTEND)}
    assert spoilt <= SPOIL_THEMSELVES


def test_a_forbidden_shortcut_is_flagged_for_the_instructor(rows: dict[str, Row]) -> None:
    assert "attend uses scaled_dot_product_attention" in rows["shortcut"].note


def test_nothing_of_the_instructors_is_in_a_feedback_page(rows: dict[str, Row], classroom: Course) -> None:
    assert rows
    pages = feedback(classroom, classroom.lesson(LESSON))
    assert len(pages) == len(rows)
    for page in pages:
        text = (classroom.root / page).read_text(encoding="utf-8")
        assert [secret for secret in SECRETS if secret in text] == [], page


def test_nothing_that_a_check_saw_or_the_computer_holds_was_shown(rows: dict[str, Row], classroom: Course) -> None:
    assert rows
    for path in classroom.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb"):
        assert not re.search(r"STASHED: *[^\s\\']|LEAKED", outputs(path)), path


def test_no_process_outlives_its_submission(rows: dict[str, Row]) -> None:
    assert rows
    assert processes_named("outlives") == []


def test_nobody_came_through_the_network(rows: dict[str, Row], listener: socket.socket) -> None:
    assert rows
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_gradebook_knows_only_students_who_handed_in(rows: dict[str, Row], classroom: Course) -> None:
    assert set(rows) == {p.name for p in classroom.submitted.iterdir()}
    assert {row.most for row in rows.values()} == {14}
