"""Archives that only claim to be large, and people with one name."""

import json
import struct
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from autograder.classroom import collect as collecting_module
from autograder.classroom.archives import PARSED, upload_of
from autograder.classroom.collect import collect
from autograder.classroom.submissions import SECRET, store_submission

from .conftest import LESSON
from .test_collect import zipped

MANY = 3000


def listing_of(entries: int, size: int) -> bytes:
    """An archive that only lists: each entry claims a size."""
    head = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, size, 5, 0, 0, 0, 0, 0, 0)
    listed = (head + b"aaaaa") * entries
    count = entries & 0xFFFF
    return listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(listed), 0, 0)


def test_what_claims_to_be_large_is_counted_like_all_else(scratch, tmp_path: Path) -> None:
    """87 KB made 600,000 lines and 194 MB; 1.5 MB would make ten million."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    inner = listing_of(MANY, 60 * 2**20)
    (inbox / "mallory.zip").write_bytes(zipped({"a.zip": inner, "b.zip": inner}))
    report = collect(scratch, scratch.lesson(LESSON), inbox)
    assert len(report.left_out) < 1100


def test_of_many_notebooks_of_one_student_few_are_parsed(scratch, notebook, tmp_path, monkeypatch) -> None:
    """A zip of 0.8 MB with a thousand of them took 67 s."""
    parsed, real = [], collecting_module.cells_in
    monkeypatch.setattr(collecting_module, "cells_in", lambda content: (parsed.append(content), real(content))[1])
    files = {f"Eve_1_assignsubmission_file/{n}.ipynb": b'{"cells": []}' for n in range(990)}
    files[f"Zoe_2_assignsubmission_file/{LESSON}.ipynb"] = notebook
    (tmp_path / "class.zip").write_bytes(zipped(files))
    report = collect(scratch, scratch.lesson(LESSON), tmp_path / "class.zip")
    assert (set(report.collected), len(parsed)) == ({"Zoe"}, PARSED.files + 1)
    assert "Eve_1: whatever comes after 100 notebooks, and no more of one student's are read" in report.left_out


def test_who_has_somebody_elses_name_cannot_use_up_what_that_person_may_hand_in(scratch, notebook, tmp_path) -> None:
    """Moodle lets people edit their own names by default; the number is their own. Two Jane Does are honest, too."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    files = {f"Jane Doe_100_assignsubmission_file/{n}.txt": b"" for n in range(1001)}
    files[f"Jane Doe_200_assignsubmission_file/{LESSON}.ipynb"] = notebook
    files[f"Ann Lee_300_assignsubmission_file/{LESSON}.ipynb"] = notebook
    (inbox / "moodle.zip").write_bytes(zipped(files))
    report = collect(scratch, scratch.lesson(LESSON), inbox)
    assert len(report.collected) == 2


def moodle(*names: str) -> dict[str, bytes]:
    """Files as Moodle delivers them; each notebook says whose it is."""
    return {f"{name}_assignsubmission_file/{LESSON}.ipynb": name.encode() for name in names}


@pytest.fixture
def collecting(scratch, notebook, tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Collect an archive whose notebooks name their owners; return who owns what each student has now."""
    lesson, numbers, released = scratch.lesson(LESSON), count(), json.loads(notebook)

    def collect_batch(files: dict[str, bytes]) -> dict[str, str]:
        named = {path: json.dumps({**released, "owner": whose.decode()}).encode() for path, whose in files.items()}
        path = tmp_path / f"class{next(numbers)}.zip"
        path.write_bytes(zipped(named))
        collect(scratch, lesson, path)
        students = scratch.students(lesson)
        return {s: json.loads(scratch.submission(lesson, s).read_text())["owner"] for s in students}

    return collect_batch


def test_two_people_of_one_name_in_two_batches_keep_their_own_work_and_ids(collecting) -> None:
    assert collecting(moodle("Jane Doe_100")) == {"Jane_Doe": "Jane Doe_100"}
    both = {"Jane_Doe": "Jane Doe_100", "Jane_Doe_200": "Jane Doe_200"}
    assert collecting(moodle("Jane Doe_200")) == both
    assert collecting(moodle("Jane Doe_100", "Jane Doe_200")) == both


def test_who_was_told_apart_once_keeps_that_id_alone(collecting) -> None:
    both = {"Jane_Doe_100": "Jane Doe_100", "Jane_Doe_200": "Jane Doe_200"}
    assert collecting(moodle("Jane Doe_100", "Jane Doe_200")) == both
    assert collecting(moodle("Jane Doe_100")) == both


def test_a_name_that_looks_like_another_ones_with_a_number_takes_nobodys_place(collecting) -> None:
    files = moodle("Bob Lee_100", "Bob Lee_200", "Bob Lee 200_300")
    assert collecting(files) == {"Bob_Lee_100": "Bob Lee_100"}  # of the others, a person decides


def test_a_name_takes_no_place_that_a_person_or_an_account_has_given(collecting, scratch) -> None:
    assert collecting({f"ada/{LESSON}.ipynb": b"ada"}) == {"ada": "ada"}
    assert collecting(moodle("ada_5")) == {"ada": "ada", "ada_5": "ada_5"}
    assert collecting({f"ada/{LESSON}.ipynb": b"again"})["ada"] == "again"
    store_submission(scratch, scratch.lesson(LESSON), "eve", {f"{LESSON}.ipynb": b'{"owner": "eve"}', SECRET: b"x"})
    assert collecting(moodle("eve_6"))["eve"] == "eve"


def test_who_was_put_there_by_hand_keeps_the_id(collecting, scratch) -> None:
    store_submission(scratch, scratch.lesson(LESSON), "Jane_Doe", {f"{LESSON}.ipynb": b"{}"})
    assert collecting(moodle("Jane Doe_100")) == {"Jane_Doe": "Jane Doe_100"}


def test_blackboards_names_that_look_alike_in_two_batches_are_two_people(collecting) -> None:
    for name in ("jane_doe", "john_doe"):
        found = collecting({f"Lesson 2_{name}_attempt_2026-11-02-10-00-00_{LESSON}.ipynb": name.encode()})
    assert found == {"doe": "jane_doe", "john_doe": "john_doe"}


def test_a_canvas_name_that_ends_in_a_number_is_nobody_elses(course) -> None:
    """Canvas takes `_55_` out of a name, and leaves `_55` at its end: then 1234 is the person, and not 55."""
    lesson = course.lesson(LESSON)
    assert upload_of(f"doejane_1234_567890_{LESSON}.ipynb", lesson).owner.student == "doejane_1234"
    assert upload_of("doe_55_1234_567890_work.ipynb", lesson).owner.student == "doe_55_1234_567890_work"


def test_one_name_that_can_be_read_in_two_ways_does_not_make_a_class_one_students(scratch, notebook, tmp_path) -> None:
    odd = f"Eve_1_assignsubmission_file_2_assignsubmission_file_{LESSON}.ipynb"
    folder = tmp_path / "inbox"
    folder.mkdir()
    files = {**dict.fromkeys(moodle("Ann Lee_1", "Bob Ray_2"), notebook), odd: notebook}
    (folder / "class.zip").write_bytes(zipped({**files, "Cy Fox_3_assignsubmission_onlinetext/x.html": b"x"}))
    assert {"Ann_Lee", "Bob_Ray"} < set(collect(scratch, scratch.lesson(LESSON), folder).collected)


def test_a_moodle_name_in_canvas_form_claims_nobody_elses_upload(scratch, notebook, tmp_path) -> None:
    """In Moodle, people may call themselves whatever they like."""
    files = {f"doejane_1234_567890_{LESSON}.ipynb": notebook}
    for n in range(2):
        files[f"doejane_1234_567891_x_55_assignsubmission_file/{n}.ipynb"] = notebook + b" "
    (tmp_path / "class.zip").write_bytes(zipped(files))
    report = collect(scratch, scratch.lesson(LESSON), tmp_path / "class.zip")
    (line,) = report.left_out
    assert line.endswith("its name has the marks of two systems, so a person has to say whose it is")
    assert scratch.submission(scratch.lesson(LESSON), "doejane_1234").read_bytes() == notebook


def test_a_name_and_number_of_one_system_are_nobody_of_another_one(collecting) -> None:
    assert collecting({f"doejane_1234_567890_{LESSON}.ipynb": b"canvas"}) == {"doejane_1234": "canvas"}
    both = {"doejane_1234": "canvas", "doejane": "moodle"}
    assert collecting({f"doejane_1234_assignsubmission_file/{LESSON}.ipynb": b"moodle"}) == both


def test_an_archive_that_lies_alone_takes_nobodys_place_who_handed_in_otherwise(scratch, notebook, tmp_path) -> None:
    """A student's own archive, alone in a folder, with what looks like Blackboard's name of somebody else in it."""
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "bob.ipynb").write_bytes(notebook)
    assert set(collect(scratch, scratch.lesson(LESSON), tmp_path / "one").collected) == {"bob"}
    (tmp_path / "two").mkdir()
    forged = f"{LESSON}_bob_attempt_2026-11-02-10-00-00_x.ipynb"
    (tmp_path / "two" / "mallory.zip").write_bytes(zipped({forged: notebook + b" "}))
    report = collect(scratch, scratch.lesson(LESSON), tmp_path / "two")
    assert not report.collected
    assert "claim to be bob's; a person has to decide" in report.left_out[0]
    assert scratch.submission(scratch.lesson(LESSON), "bob").read_bytes() == notebook
