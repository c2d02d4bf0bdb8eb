import io
import os
import re
import shutil
import tracemalloc
import unicodedata
import zipfile
from pathlib import Path

import pytest

from autograder.classroom.archives import LONGEST_STUDENT, safe_student_id, upload_of
from autograder.classroom.collect import collect
from autograder.classroom.report import make_report
from autograder.classroom.submissions import handed_in, timestamp_of
from autograder.errors import CourseError
from autograder.grading.cells import BUDGET, CLEARED
from autograder.paths import Course

from .conftest import LESSON

HOSTILE = Path(__file__).parent / "hostile"


def zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def archive(path: Path, files: dict[str, bytes]) -> Path:
    path.write_bytes(zipped(files))
    return path


def collected(course: Course, origin: Path) -> tuple[list[str], list[str]]:
    report = collect(course, course.lesson(LESSON), origin)
    for student in report.collected:
        assert (course.submitted / student / LESSON / f"{LESSON}.ipynb").is_file()
    return sorted(report.collected), report.left_out


@pytest.mark.parametrize(
    ("path", "student"),
    [
        (f"doejane_1234_567890_{LESSON}.ipynb", "doejane_1234"),
        (f"doejane_LATE_1234_567890_{LESSON}-2.ipynb", "doejane_1234"),
        (f"Jane Doe_12345_assignsubmission_file_/{LESSON}.ipynb", "Jane_Doe"),
        (f"Jane Doe_12345_assignsubmission_file_{LESSON}.ipynb", "Jane_Doe"),
        (f"lesson2_jane_attempt_2026-11-02-10-00-00_{LESSON}.ipynb", "jane"),
        (f"{LESSON}_jane_doe_attempt_2026-11-02-10-00-00_work.ipynb", "jane_doe"),
        (f"jane/bob/{LESSON}.ipynb", "jane"),
        ("jane/my_attention.ipynb", "jane"),
        (f"jane/bob_12_34_{LESSON}.ipynb", "jane"),
        (f"jane/Bob Lee_1_assignsubmission_file_/{LESSON}.ipynb", "jane"),
        (f"Jane Doe_12345_assignsubmission_file_/bob_12_34_{LESSON}.ipynb", "Jane_Doe"),
        ("doejane_1234_567890_x_bob_attempt_2026-11-02-10-00-00_x.ipynb", ""),
        ("doejane_1234_567890_Bob Lee_1_assignsubmission_file_.ipynb", ""),
        ("x_jane_attempt_2026-11-02-10-00-00_x_bob_attempt_2026-11-02-10-00-00_.ipynb", "jane"),
        ("x_jane_attempt_2026-11-02-10-00-00_Bob_1_assignsubmission_file_.ipynb", ""),
        (f"submissions/jane/{LESSON}.ipynb", "jane"),
        (f"_jane_{LESSON}.ipynb", "jane"),
        ("20261122.ipynb", "20261122"),
        ("solution.ipynb", ""),
        (f"jane/{LESSON}/{LESSON}.ipynb", "jane"),
        (
            f"Jane Doe_1_assignsubmission_file_9_assignsubmission_file_/{LESSON}.ipynb",
            "Jane_Doe_1_assignsubmission_file_9_assignsubmission_file",
        ),
        (f"jane_{LESSON}.ipynb", "jane"),
        (f"{LESSON}_jane.ipynb", "jane"),
        (f"{LESSON} (1)/jane.ipynb", "jane"),
        ("jane.doe@uni.edu.ipynb", "jane.doe@uni.edu"),
        ("Zoë Öz.ipynb", "Zoë_Öz"),
        (f"jane/{LESSON}-Copy1.ipynb", "jane"),
        (f"jane/{LESSON}_final.ipynb", "jane"),
        ("jane/solution.ipynb", "jane"),
        (f"{LESSON}.ipynb", ""),
    ],
)
def test_a_students_name_is_read_from_the_path(course: Course, path: str, student: str) -> None:
    upload = upload_of(path, course.lesson(LESSON))
    assert safe_student_id(upload.owner.student) == student


def test_an_lms_archive_is_taken_and_the_rest_of_it_named(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    files = {
        f"ada_1_11_{LESSON}.ipynb": notebook,
        f"ben_2_22_{LESSON}.ipynb": notebook,
        f"eve_3_33_{LESSON}.ipynb": (HOSTILE / "not_json.ipynb").read_bytes(),
        "tom_4_44_essay.docx": b"word",
        "uma_5_55_05_masking.ipynb": b'{"cells": []}',
        "__MACOSX/._ada_1_11.ipynb": b"",
    }
    students, left_out = collected(scratch, archive(tmp_path / "class.zip", files))
    assert students == ["ada_1", "ben_2"]
    assert [line.split(": ")[1] for line in left_out] == [
        "cannot be read as a notebook (not valid JSON with cells); ask for it again",
        "not a notebook",
        f"not {LESSON}",
    ]


def test_what_was_left_out_is_on_the_report_until_it_is_collected(
    scratch: Course, tmp_path: Path, notebook: bytes
) -> None:
    lesson, good = scratch.lesson(LESSON), {f"ada_1_11_{LESSON}.ipynb": notebook}
    bad = {f"eve_3_33_{LESSON}.ipynb": b"{", "tom_4_44_<essay>.docx": b"word"}
    collect(scratch, lesson, archive(tmp_path / "class.zip", good | bad))
    collect(scratch, lesson, archive(tmp_path / "later.zip", good | {"uma_5_55_a.docx": b"word"}))
    page = make_report(scratch, lesson)[0].read_text(encoding="utf-8")
    lines = re.findall("<li>(class|later)/(.*?):", page)
    assert lines == [
        ("class", f"eve_3_33_{LESSON}.ipynb"),
        ("class", "tom_4_44_&lt;essay&gt;.docx"),
        ("later", "uma_5_55_a.docx"),
    ]
    collect(scratch, lesson, archive(tmp_path / "class.zip", good))
    page = make_report(scratch, lesson)[0].read_text(encoding="utf-8")
    assert ["eve_3_33" in page, "uma_5_55" in page] == [False, True]


def test_archives_in_archives_are_opened(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    inner = zipped({f"{LESSON}/{LESSON}.ipynb": notebook})
    outer = archive(tmp_path / "class.zip", {"Ada Lovelace_77_assignsubmission_file_/work.zip": inner})
    assert collected(scratch, outer)[0] == ["Ada_Lovelace"]


def test_loose_notebooks_and_a_broken_archive_beside_them(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "ada.ipynb").write_bytes(notebook)
    shutil.copy(HOSTILE / "broken.zip", folder)
    assert collected(scratch, folder) == (["ada"], ["broken.zip: not a zip archive"])


def put(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_what_is_inside_an_upload_never_says_whose_it_is(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    forged = dict.fromkeys((f"bob_1_2_{LESSON}.ipynb", f"Bob_1_assignsubmission_file_/{LESSON}.ipynb"), notebook)
    files = {
        "ann/my_attention.ipynb": notebook,
        f"bob/{LESSON}.ipynb": notebook,
        "mallory/bob.ipynb": notebook + b" ",
        f"mallory/bob/{LESSON}.ipynb": notebook + b"  ",
        "mallory/s.zip": zipped({f"bob/{LESSON}.ipynb": notebook, "bob.ipynb": notebook, **forged}),
        "eve.zip": zipped({"bob.ipynb": notebook, f"{LESSON}.ipynb": notebook + b"   "}),
    }
    students, left_out = collected(scratch, put(tmp_path / "inbox", files))
    assert students == ["ann", "bob", "eve", "mallory"]
    stored = {name: scratch.submission(scratch.lesson(LESSON), name).read_bytes() for name in students}
    assert stored == {"ann": notebook, "bob": notebook, "eve": notebook + b"   ", "mallory": notebook + b"  "}
    assert len(left_out) == 6
    assert all(line.endswith(("in the same upload of mallory", "in the same upload of eve")) for line in left_out)


def test_an_upload_in_an_lms_archive_is_its_students_alone(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    crowd = zipped({f"{name}_{n}_{n}_{LESSON}.ipynb": notebook for n, name in enumerate(("jim", "doejim"))})
    files = {
        "doejim_777_1_work.ipynb": b'{"cells": []}',
        f"jim_1_2_{LESSON}.ipynb": notebook,
        "02_x_mallory_attempt_2026-11-02-10-00-00_x_jim_attempt_1.ipynb": notebook,
        "mallory_666_999_work.zip": zipped({"doejim_777_assignsubmission_file_/x.ipynb": notebook, "more.zip": crowd}),
        "mallory_666_999_x_jim_attempt_2026-11-02-10-00-00_.ipynb": notebook,
    }
    students, _ = collected(scratch, archive(tmp_path / "class.zip", files))
    assert students == ["jim_1", "mallory", "mallory_666"]


def test_a_zip_that_imitates_an_lms_beside_other_work_is_left_to_a_person(
    scratch: Course, tmp_path: Path, notebook: bytes
) -> None:
    forged = zipped({f"bob_1_2_{LESSON}.ipynb": notebook})
    inbox = put(tmp_path / "inbox", {"mallory.zip": forged, f"bob_1_2_{LESSON}.ipynb": notebook + b" "})
    students, (line,) = collected(scratch, inbox)
    assert students == ["bob_1"]
    assert line.startswith("mallory.zip: an LMS's zip, beside other work. If it is, collect it alone: `lessons collect")
    assert scratch.submission(scratch.lesson(LESSON), "bob_1").read_bytes() == notebook + b" "


def test_a_list_of_very_many_names_is_not_read(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    record = zipped({"a/": b""})
    entry, end = record[record.index(b"PK\1\2") : record.index(b"PK\5\6")], record[record.index(b"PK\5\6") :]
    many = 60_000
    counts = many.to_bytes(2, "little") * 2 + (many * len(entry)).to_bytes(4, "little")
    content = record[: record.index(b"PK\1\2")] + entry * many + end[:8] + counts + end[16:]
    files = {"Ada A_1_assignsubmission_file_/many.zip": content}
    files[f"Ben B_2_assignsubmission_file_/{LESSON}.ipynb"] = notebook
    report = collect(scratch, scratch.lesson(LESSON), archive(tmp_path / "lms.zip", files))
    assert any("its list of files is longer than" in line for line in report.left_out), report.left_out
    assert len(report.collected) == 1


def test_a_folder_of_nothing_but_an_lms_zips_is_that(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    groups = {f"group{n}.zip": zipped({f"ada{n}_{n}_{n}_{LESSON}.ipynb": notebook}) for n in (1, 2)}
    assert collected(scratch, put(tmp_path / "inbox", groups)) == (["ada1_1", "ada2_2"], [])


def test_the_same_person_in_two_uploads_that_a_teacher_has_named_needs_a_person(
    scratch: Course, tmp_path: Path, notebook: bytes
) -> None:
    files = ("jim.ipynb", "jim/work.ipynb", f"ann/{LESSON}.ipynb")
    students, left_out = collected(scratch, put(tmp_path / "inbox", dict.fromkeys(files, notebook)))
    assert students == ["ann"]
    assert "jim.ipynb and jim/work.ipynb: all of them claim to be jim's; a person has to decide" in left_out


def test_a_link_in_the_folder_is_not_followed(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    inbox = put(tmp_path / "inbox", {f"ann/{LESSON}.ipynb": notebook})
    (inbox / "mallory").mkdir()
    (inbox / "mallory" / "work.ipynb").symlink_to(scratch.lesson(LESSON).solved_ipynb)
    (inbox / "mallory" / "all").symlink_to(scratch.root)
    os.mkfifo(inbox / "eve.zip")
    students, left_out = collected(scratch, inbox)
    assert students == ["ann"]
    assert [line.split(": ")[0] for line in left_out] == ["eve.zip", "mallory/all", "mallory/work.ipynb"]


def test_names_that_begin_with_a_dot_or_a_line_do_not_vanish(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    files = {"_jane.ipynb": notebook, f"_ana_12_34_{LESSON}.ipynb": notebook, ".notes": b"", "__MACOSX/._x.ipynb": b""}
    students, left_out = collected(scratch, archive(tmp_path / "class.zip", files))
    assert students == ["ana_12_34", "jane"]
    assert left_out == ["class/.notes: not a notebook"]


def test_a_long_name_is_counted_as_file_systems_count(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    files = {f"{'字' * 90}.ipynb": notebook, "ada.ipynb": notebook}
    long, short = sorted(collected(scratch, archive(tmp_path / "class.zip", files))[0], key=len, reverse=True)
    assert (len(long.encode()), short) == (LONGEST_STUDENT - 1, "ada")


def test_what_cannot_be_unpacked_stops_nobody(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    damaged = bytearray(zipped({f"{LESSON}.ipynb": notebook * 3}))
    damaged[60:80] = b"\xff" * 20
    files = {
        "ada_1_11_work.zip": bytes(damaged),
        "ben_2_22_x.ipynb": b'{"cells": [{"metadata": null}, {"metadata": {"nbgrader": null}}, 3]}',
        f"cyd_3_33_{'x' * 600}.ipynb": notebook,
        f"dan_4_44_{LESSON}.ipynb": notebook,
        "evil\x1b[2J\ncollected  jim  from x.txt": b"",
    }
    origin = archive(tmp_path / "class.zip", files)
    report = collect(scratch, scratch.lesson(LESSON), origin)
    assert list(report.collected) == ["dan_4"]
    assert len(report.left_out) == 4
    lines = report.lines(scratch.lesson(LESSON))
    assert not [line for line in lines if "\x1b" in line or "\n" in line]
    assert len([line for line in lines if line.startswith("collected")]) == 1


def test_names_in_an_archive_cannot_leave_the_folder(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    evil = {f"../../../evil_{LESSON}.ipynb": notebook, f"/etc/..._9_9_{LESSON}.ipynb": notebook, "..ipynb": notebook}
    students, _ = collected(scratch, archive(tmp_path / "class.zip", evil))
    assert all(s and "/" not in s and not s.startswith(".") for s in students)
    assert not list(tmp_path.parent.glob("evil*"))


def test_the_later_of_two_files_of_a_student_counts_and_it_is_said(scratch: Course, tmp_path: Path, notebook) -> None:
    files = {f"ada_1_11_{LESSON}.ipynb": b'{"cells": [], "first": 1}', f"ada_1_12_{LESSON}-1.ipynb": notebook}
    students, left_out = collected(scratch, archive(tmp_path / "class.zip", files))
    assert students == ["ada_1"]
    assert "replaced by" in left_out[0]
    assert (scratch.submitted / "ada_1" / LESSON / f"{LESSON}.ipynb").read_bytes() == notebook


def test_what_was_handed_in_is_kept(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    path = archive(tmp_path / "class.zip", {f"ada_1_11_{LESSON}.ipynb": notebook})
    collected(scratch, path)
    assert (scratch.downloaded / LESSON / "archive" / "class.zip").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("exists", [True, False])
def test_nothing_to_collect_is_one_clear_line(scratch: Course, tmp_path: Path, exists: bool) -> None:
    empty = tmp_path / "inbox"
    if exists:
        empty.mkdir()
    with pytest.raises(CourseError, match="is empty: put the LMS zip" if exists else "does not exist: put"):
        collected(scratch, empty)


@pytest.mark.parametrize(
    ("names", "students"),
    [
        (["Lesson 2_jane_doe_attempt_2026-11-02-10-00-00_x", "Lesson 2_john_doe_attempt_2026-11-02-10-00-01_x"], 2),
        (["Jane Doe_1_assignsubmission_file_/x", "Jane Doe_2_assignsubmission_file_/x"], 2),
        (["Lesson 2_doe_attempt_2026-11-02-10-00-00_x", "Lesson 2_doe_attempt_2026-11-03-10-00-00_x"], 1),
    ],
)
def test_people_whose_names_look_alike_are_told_apart(
    scratch: Course, tmp_path: Path, notebook: bytes, names: list[str], students: int
) -> None:
    origin = archive(tmp_path / "class.zip", {f"{name}_{LESSON}.ipynb": notebook for name in names})
    found, _ = collected(scratch, origin)
    assert len(found) == students
    assert not [student for student in found if "Lesson" in student]


def test_moodles_number_changes_from_lesson_to_lesson_and_the_student_does_not(
    scratch: Course, tmp_path: Path, notebook: bytes
) -> None:
    for number, lesson in (("71", LESSON), ("99", "03_scaling")):
        name = f"Ada Lovelace_{number}_assignsubmission_file_/{lesson}.ipynb"
        origin = archive(tmp_path / f"{number}.zip", {name: notebook})
        assert list(collect(scratch, scratch.lesson(lesson), origin).collected) == ["Ada_Lovelace"]


def test_when_it_was_handed_in_is_kept_for_late_penalties(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    name = f"Lesson 2_jane_attempt_2026-11-02-10-05-09_{LESSON}.ipynb"
    collected(scratch, archive(tmp_path / "class.zip", {name: notebook}))
    when = timestamp_of(scratch, scratch.lesson(LESSON), "jane")
    assert when.isoformat() == "2026-11-02T10:05:09"


def test_what_canvas_calls_late_is_said(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    origin = archive(tmp_path / "class.zip", {f"doejane_LATE_1234_567890_{LESSON}.ipynb": notebook})
    report = collect(scratch, scratch.lesson(LESSON), origin)
    assert "(late)" in report.lines(scratch.lesson(LESSON))[0]
    assert handed_in(scratch, scratch.lesson(LESSON), "doejane_1234")[1]


def test_two_ways_to_write_one_letter_are_one_student(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    folder = tmp_path / "inbox"
    for form, name in (("NFC", LESSON), ("NFD", f"{LESSON} (1)")):
        path = folder / name / f"{unicodedata.normalize(form, 'Zoë')}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook)
    report = collect(scratch, scratch.lesson(LESSON), folder)
    assert report.collected == {}
    assert "claim to be Zoë's" in report.left_out[0]


def test_an_archive_of_an_unknown_version_stops_nobody(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    odd = bytearray(zipped({"x.ipynb": notebook}))
    directory = odd.rindex(b"PK\x01\x02")
    odd[directory + 6] = 99  # the version that is needed to read it
    files = {"ada_1_11_work.zip": bytes(odd), f"ben_2_22_{LESSON}.ipynb": notebook}
    students, left_out = collected(scratch, archive(tmp_path / "class.zip", files))
    assert students == ["ben_2"]
    assert "cannot be opened" in left_out[0]


def test_other_files_in_the_folder_are_not_copied(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "ada.ipynb").write_bytes(notebook)
    (folder / "holiday.mov").write_bytes(b"0" * 1000)
    archive(folder / "photos.zip", {"a.jpg": b"0"})
    collected(scratch, folder)
    kept = {p.name for p in (scratch.downloaded / LESSON / "archive").iterdir()}
    assert kept == {"ada.ipynb"}


@pytest.mark.parametrize("name", ["class.zip", f"eve_1_2_{LESSON}.ipynb"])
def test_a_file_that_is_too_large_to_be_read_is_left_out(scratch: Course, tmp_path: Path, name: str) -> None:
    content = b"[" * (BUDGET.bytes + 1)
    path = tmp_path / name
    if path.suffix == ".zip":
        archive(path, {f"eve_1_2_{LESSON}.ipynb": content})
    else:
        path.write_bytes(content)
    students, left_out = collected(scratch, path)
    assert students == []
    assert left_out[0].endswith(f"larger than 5 MB: {CLEARED}")


def test_what_a_class_hands_in_is_not_held_in_memory(scratch: Course, tmp_path: Path, notebook: bytes) -> None:
    content = notebook + b" " * 4 * 2**20
    origin = archive(tmp_path / "class.zip", {f"s{n}_{n}_{n}_{LESSON}.ipynb": content for n in range(30)})
    tracemalloc.start()
    students, _ = collected(scratch, origin)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(students), peak < 10 * len(content)) == (30, True)


def test_names_of_three_systems_in_one_upload_are_three_students(
    scratch: Course, tmp_path: Path, notebook: bytes
) -> None:
    names = (f"doejane_12_34_{LESSON}.ipynb", "Jane Doe_77_assignsubmission_file_/work.ipynb", f"doe/{LESSON}.ipynb")
    again = f"doejane_12_35_{LESSON}-1.ipynb"
    origin = archive(tmp_path / "class.zip", dict.fromkeys((*names, again), notebook))
    students, left_out = collected(scratch, origin)
    assert students == ["Jane_Doe", "doe", "doejane_12"]
    assert left_out == [f"class/{names[0]}: replaced by class/{again}, a later file of doejane_12"]


@pytest.mark.parametrize("name", ["folder/", "__MACOSX/x"])
def test_empty_folders_count_as_files_do(scratch: Course, tmp_path: Path, notebook: bytes, name: str) -> None:
    many = {f"{n}/{name}": b"" for n in range(1001)}
    delivered = tmp_path / "delivered"
    delivered.mkdir()
    archive(delivered / "ann.zip", {**many, f"{LESSON}.ipynb": notebook})
    students, left_out = collected(scratch, delivered)
    assert students == []
    assert left_out == ["ann: whatever comes after 1000 files, which is more than one student hands in"]
