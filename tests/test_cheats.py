"""Submissions that want points without solving, or to break, see or tell what is not theirs.

A cheat says `CHEAT SUCCEEDED` where it has what it wants. Each one is run twice: once where nothing stops it, which
shows that it can succeed, and once as a submission, where it must not. Its first lines say what counts as success, and
what its author earns: full (the answer is right, the cheat adds nothing), rest (all but the exercise), any.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell
from nbgrader.utils import determine_grade

from autograder.authoring.notebook import read_notebook
from autograder.classroom.feedback import make_feedback
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import StudentResult, grade_lesson
from autograder.classroom.writer import read_notebook_record
from autograder.errors import SandboxError
from autograder.grading.grade import RECORD
from autograder.grading.sandbox import Limits, shared_sandbox
from autograder.grading.sandbox.channel import LENGTH, Deadline, read, send
from autograder.grading.sandbox.codec import pack, unpack
from autograder.judging.answer_key import AnswerKey
from autograder.judging.check import checks_in, load_module
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox
from .waiting import wait_until

pytestmark = needs_sandbox
CHEATS = {
    path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("hostile/cheats/*"))
}
RIGHT = "    return weights @ value, weights\n"
MARK = "CHEAT SUCCEEDED"
SECRETS = ("BEGIN SOLUTION", "def scores_of_a_thousand", "exp_without_care", "<script>alert", "\x1b[2J")
LIMITS = {"cell_seconds": 3.0, "check_seconds": 2.0}
LATER = "if 'look' in globals(): look()\n"  # what a cell after the check cell does: show what a check has left


def line(name: str, key: str) -> str:
    return re.search(rf"^# {key}: (.*)$", CHEATS[name], re.M)[1]


def having(*controls: str) -> list[str]:
    """Return the cheats whose control is one of these."""
    return [name for name in CHEATS if line(name, "control").startswith(controls)]


def listening() -> socket.socket:
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0)
    return server


def source_of(name: str, server: socket.socket) -> str:
    return CHEATS[name].replace("{port}", str(server.getsockname()[1]))


# Where nothing stops them


@pytest.fixture(scope="module")
def unstopped(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run all cheats as stock nbgrader would: beside the class's data, with a check in the same process."""
    root = tmp_path_factory.mktemp("unstopped")
    submitted = root / "submitted"
    with sqlite3.connect(root / "gradebook.db") as gradebook:
        gradebook.execute("create table grade (auto_score, manual_score)")
    for name in having("mark", "points", "process", "grader", "same", "value", "summary"):
        folder = submitted / name / LESSON
        folder.mkdir(parents=True)
        shutil.copy(course.lesson(LESSON).checks_py, folder)
    (submitted / "victim" / LESSON).mkdir(parents=True)
    (submitted / "victim" / LESSON / "victim.ipynb").touch()
    with listening() as server:
        for folder in submitted.glob("*/*"):
            if folder.parent.name != "victim":
                (folder / "cheat.py").write_text(source_of(folder.parent.name, server), encoding="utf-8")
        command = [sys.executable, "-m", "tests.unprotected_run", str(submitted)]
        variables = {**os.environ, "LEAKED_SECRET": "LEAKED"}
        with (root / "said").open("w") as said:  # no pipe, which a daemon would keep open
            subprocess.run(
                command, cwd=Path(__file__).parent.parent, env=variables, check=True, stdout=said, stderr=said
            )
        yield submitted
    for path in submitted.glob("daemon/*/*.pid"):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ends by itself after two minutes
            psutil.Process(int(path.read_text())).kill()


def shown(root: Path, name: str) -> list[list[dict[str, Any]]]:
    path = root / name / LESSON / "shown.json"
    return json.loads(path.read_text()) if path.exists() else []


@pytest.mark.parametrize("name", having("mark", "same", "value", "summary"))
def test_unstopped_a_cheat_leaves_its_mark(unstopped: Path, name: str) -> None:
    if "superuser" in line(name, "control") and os.geteuid() != 0:
        pytest.skip("only the superuser may do it")
    if "keyrings" in line(name, "control") and MARK not in str(shown(unstopped, name)):
        pytest.skip("this kernel has no keyrings")
    assert MARK in str(shown(unstopped, name))


@pytest.mark.parametrize("name", having("points"))
def test_unstopped_a_cheat_earns_full_points(unstopped: Path, key: AnswerKey, name: str) -> None:
    points = key.points()["attend"]
    data = {"grade_id": "check_attend", "grade": True, "solution": False, "locked": True, "points": points}
    cell = new_code_cell(
        outputs=from_dict(shown(unstopped, name)[2]), metadata={"nbgrader": {**data, "schema_version": 3}}
    )
    assert determine_grade(cell) == (points, points)


@pytest.mark.parametrize("name", having("process ended"))
def test_unstopped_all_later_cells_are_lost(unstopped: Path, name: str) -> None:
    assert "the end" not in str(shown(unstopped, name))


def test_unstopped_the_grader_is_lost(unstopped: Path) -> None:
    assert not (unstopped / "parent_signaled" / LESSON / "grader_survived").exists()
    assert (unstopped / "shortcut" / LESSON / "grader_survived").exists()


def test_unstopped_processes_outlive_their_submission(unstopped: Path) -> None:
    folder = unstopped / "daemon" / LESSON
    wait_until(
        lambda: all((folder / f"{n}.pid").exists() and (folder / f"{n}.pid").read_text() for n in ("daemon", "second"))
    )
    assert all(psutil.pid_exists(int(path.read_text())) for path in folder.glob("*.pid"))


def test_unstopped_a_right_submission_passes_and_a_wrong_one_does_not(unstopped: Path) -> None:
    """The naive check can tell them apart, so what it says about cheats means something."""
    assert [o for o in shown(unstopped, "stashed_in_memory")[2] if o["output_type"] == "error"] == []
    assert [o["ename"] for o in shown(unstopped, "printed_files")[2] if o["output_type"] == "error"] == ["RuntimeError"]


def sent(course: Course, name: str) -> tuple[int, dict[str, Any]]:
    """Return what a cheat's process sends as an answer: the announced size, and the header if there is one."""
    text = course.lesson(LESSON).checks_py.read_text()
    check = next(c for c in checks_in(load_module(text, "checks.py")) if c.exercise == "attend")
    check_request = {"do": "check", "sources": (text, ""), "name": check.name, "exercise": "attend", "seed": 0}
    check_request["record"] = False
    cell_request = {"do": "cell", "source": CHEATS[name], "output_bytes": 1, "alone": None}
    with shared_sandbox().session({}, Limits()) as session:
        channel, deadline = session._channel, Deadline(60)
        for request in [cell_request] if name == "endless_output" else [cell_request, check_request]:
            send(channel, pack(request))
            (size,) = LENGTH.unpack(read(channel, LENGTH.size, deadline))
            message = b"" if size > 2**30 else read(channel, size, deadline)
    try:
        return size, unpack(message)[0]
    except SandboxError:
        return size, {}


@pytest.mark.parametrize(
    ("name", "believed"),
    [
        ("length_of_reply", lambda size, header: size == 2**60),
        ("malformed_reply", lambda size, header: header == {}),
        ("forged_replies", lambda size, header: header["passed"] and header["points"] > 0),
        ("patched_json", lambda size, header: header == {"tree": {"plain": None}, "changed": False}),
        ("one_tensor_many_times", lambda size, header: size * len(header["tree"]["list"]) > Limits.reply_bytes),
        ("endless_output", lambda size, header: size > 50_000_000),
    ],
)
def test_unstopped_a_forged_message_arrives(course: Course, name: str, believed) -> None:
    assert believed(*sent(course, name))


def test_every_cheat_has_a_control_or_a_reason() -> None:
    known = having("mark", "points", "process", "grader", "same", "value", "summary", "reply", "output")
    assert set(CHEATS) - set(known) == {"all_processes_killed"}
    assert line("all_processes_killed", "control").startswith("none, because")


# As submissions


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A server on this computer that no submission can reach."""
    with listening() as server:
        yield server


@pytest.fixture(scope="module")
def results(classroom: Course, hand_in, right, listener) -> dict[str, StudentResult]:
    hand_in(classroom, "aa_good", right)
    later = LATER + right["copy_previous_qk"]
    for name in CHEATS:
        hand_in(classroom, name, {**right, "attend": source_of(name, listener), "copy_previous_qk": later})
    hand_in(classroom, "zz_good", right)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEAKED_SECRET", "LEAKED")
        graded = grade_lesson(classroom, classroom.lesson(LESSON), jobs=2, options=LIMITS)
    return {result.student: result for result in graded}


def outputs(path: Path) -> str:
    """Return all that a notebook's cells printed and showed."""
    return "\n".join(str(o) for c in read_notebook(path).cells for o in c.get("outputs", []))


@pytest.mark.parametrize("student", ["aa_good", "zz_good"])
def test_good_submissions_beside_cheats_keep_their_points(
    results: dict[str, StudentResult], full: int, student: str
) -> None:
    assert (results[student].status, results[student].score) == ("graded", full)


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_earns_what_its_honest_part_earns(
    results: dict[str, StudentResult], classroom: Course, key: AnswerKey, full: int, name: str
) -> None:
    result, rest = results[name], full - key.points()["attend"]
    assert result.status == "graded", result.note
    assert result.score in {"full": {full}, "rest": {rest}, "any": range(full + 1)}[line(name, "earns")]
    if RIGHT not in CHEATS[name]:
        record = read_notebook_record(classroom.graded_notebook(classroom.lesson(LESSON), name), RECORD)
        assert record["verdicts"]["attend"]["points"] == 0


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_does_not_succeed(results: dict[str, StudentResult], classroom: Course, name: str) -> None:
    assert results[name].status == "graded"
    text = outputs(classroom.graded_notebook(classroom.lesson(LESSON), name))
    assert MARK not in text
    assert "LEAKED" not in text


@pytest.mark.parametrize("name", ["shortcut", "shortcut_in_disguise"])
def test_a_forbidden_shortcut_is_flagged_for_the_instructor(results: dict[str, StudentResult], name: str) -> None:
    assert "attend uses scaled_dot_product_attention" in results[name].note


def test_the_computers_devices_are_as_they_were(results: dict[str, StudentResult]) -> None:
    assert results
    assert {Path(p).stat().st_mode & 0o777 for p in ("/dev/null", "/dev/full", "/dev/zero")} == {0o666}


def test_no_graded_notebook_is_large(results: dict[str, StudentResult], classroom: Course) -> None:
    assert results
    paths = classroom.autograded.glob(f"*/{LESSON}/{LESSON}.ipynb")
    assert max(path.stat().st_size for path in paths) < 40 * 2**20


def test_nothing_of_the_instructors_is_in_a_feedback_page(results: dict[str, StudentResult], classroom: Course) -> None:
    make_feedback(classroom, classroom.lesson(LESSON))
    for student in results:
        text = classroom.feedback_page(classroom.lesson(LESSON), student).read_text(encoding="utf-8")
        assert [secret for secret in SECRETS if secret in text] == [], student


def test_what_others_handed_in_is_as_it_was(
    results: dict[str, StudentResult], classroom: Course, hand_in, right
) -> None:
    assert results
    kept = classroom.submission(classroom.lesson(LESSON), "zz_good").read_bytes()
    assert kept == hand_in(classroom, "zz_good", right).read_bytes()


def test_no_process_outlives_its_submission(results: dict[str, StudentResult]) -> None:
    assert results
    mine = psutil.Process().children(recursive=True)
    running = [p for p in mine if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
    assert [p.pid for p in running if "outlives" in " ".join([p.name(), *p.cmdline()])] == []


def test_nobody_came_through_the_network(results: dict[str, StudentResult], listener: socket.socket) -> None:
    assert results
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_the_gradebook_has_only_what_was_graded(
    results: dict[str, StudentResult], classroom: Course, possible: int
) -> None:
    assert set(results) == {p.name for p in classroom.submitted.iterdir()}
    assert {result.max_score for result in results.values()} == {possible}
    with open_gradebook(classroom) as gradebook:
        grades = [g for s in gradebook.assignment_submissions(LESSON) for n in s.notebooks for g in n.grades]
        assert {grade.manual_score for grade in grades} == {None}
