"""What lies in `submitted/` without having come through a border of ours: copied by hand, or in a shared folder."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom import plain_files
from autograder.classroom.feedback import make_feedback
from autograder.classroom.plain_files import (
    KNOWN_SECONDS,
    NAMELESS,
    NAMES_SECONDS,
    listing,
    named,
    open_folder,
    owners_in,
    read_below,
)
from autograder.classroom.report import make_report
from autograder.classroom.run import StudentResult, closing_table, grade_lesson
from autograder.classroom.submissions import MOST_BESIDE, SECRET, TIMESTAMP, files_beside
from autograder.errors import SubmissionError
from autograder.paths import Course

from .conftest import LESSON

MOST = 100
GIGABYTES = 12 * 2**30


def pipe(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, GIGABYTES)


def link(path: Path) -> None:
    path.symlink_to(path.with_name("other"))


def link_to_endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


ODD = {
    pipe: "is a named pipe, not a file",
    sparse: "is larger than 100 bytes",
    link: "is a symbolic link, not a file",
    link_to_endless: "is a symbolic link, not a file",
    folder: "is a folder, not a file",
}


@pytest.mark.parametrize("kind", ODD, ids=lambda kind: kind.__name__)
def test_what_is_no_plain_file_is_not_read(tmp_path: Path, kind) -> None:
    (tmp_path / "other").write_bytes(b"secret")
    kind(tmp_path / "work")
    with pytest.raises(SubmissionError, match=f"work {ODD[kind]}"):
        read_below(tmp_path, tmp_path / "work", MOST)


def test_a_folder_on_the_way_is_no_link_either(tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "work").write_bytes(b"secret")
    (tmp_path / "mine").symlink_to("others")
    assert read_below(tmp_path, tmp_path / "others" / "work", MOST) == b"secret"
    with pytest.raises(SubmissionError, match="mine is a symbolic link, not a folder"):
        read_below(tmp_path, tmp_path / "mine" / "work", MOST)


def test_a_file_that_grows_while_it_is_read_is_too_large(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "work"
    path.write_bytes(b"x" * MOST)
    assert read_below(tmp_path, path, MOST) == b"x" * MOST
    real = os.fstat
    monkeypatch.setattr(os, "fstat", lambda number: (real(number), path.write_bytes(b"x" * (MOST + 1)))[0])
    with pytest.raises(SubmissionError, match="larger than 100 bytes"):
        read_below(tmp_path, path, MOST)


def test_a_file_that_is_swapped_for_a_link_is_not_followed(tmp_path: Path, monkeypatch) -> None:
    path, real = tmp_path / "work", os.open
    (tmp_path / "other").write_bytes(b"secret")

    def swap_first(name, flags, mode=0o777, *, dir_fd=None) -> int:
        if name == "work":
            path.unlink()
            path.symlink_to("other")
        return real(name, flags, mode, dir_fd=dir_fd)

    path.write_bytes(b"mine")
    monkeypatch.setattr(os, "open", swap_first)
    with pytest.raises(SubmissionError, match="work cannot be read"):
        read_below(tmp_path, path, MOST)


def test_a_file_with_a_second_name_is_refused_where_its_owner_counts(tmp_path: Path) -> None:
    from autograder.classroom.plain_files import read_plain

    (tmp_path / "other").write_bytes(b"secret")
    (tmp_path / "work").hardlink_to(tmp_path / "other")
    with open_folder(tmp_path) as descriptor:
        assert read_plain(descriptor, "work", MOST) == b"secret"
        with pytest.raises(SubmissionError, match="hard link"):
            read_plain(descriptor, "work", MOST, owner=os.getuid())
        with pytest.raises(SubmissionError, match="somebody else's"):
            read_plain(descriptor, "work", MOST, owner=os.getuid() + 1)


def test_a_listing_is_short_and_safe_to_print(tmp_path: Path) -> None:
    for name in ("a\x1b[2J", *map(str, range(30))):
        (tmp_path / name).touch()
    with open_folder(tmp_path) as descriptor:
        text = listing(descriptor)
    assert text.isprintable()
    assert text.count(",") == 10


def odd_class(course: Course, hand_in, right: dict[str, str]) -> dict[str, str]:
    """Put a good submission and one of each odd kind where submissions are; return what each needs."""
    lesson, good = course.lesson(LESSON), hand_in(course, "good", right)
    needs = {}
    for kind in (pipe, sparse, link, link_to_endless):
        path = course.submission(lesson, kind.__name__)
        path.parent.mkdir(parents=True)
        (path.parent / "other").write_bytes(good.read_bytes())
        kind(path)
        needs[kind.__name__] = "larger than 5 MB" if kind is sparse else ODD[kind]
    (course.submitted / "borrowed").symlink_to("good")
    pipe(hand_in(course, "waits", right).with_name("timestamp.txt"))
    hand_in(course, "garbage", right).with_name("timestamp.txt").write_text("\x1b[2J whenever")
    for odd in ("a[bc]", "*", "two\nlines", "esc\x1b[2J"):
        hand_in(course, odd, right)
        needs[odd] = "rename the folder"
    more = {"borrowed": "borrowed is a symbolic link", "garbage": "no time in timestamp.txt", "waits": "a named pipe"}
    return needs | more


def test_nothing_that_lies_there_ends_a_run_for_the_others(scratch: Course, hand_in, right: dict[str, str]) -> None:
    needs, lesson = odd_class(scratch, hand_in, right), scratch.lesson(LESSON)
    results = grade_lesson(scratch, lesson, options={"allow_unsandboxed": True})
    assert {r.student: r.status for r in results} == {"good": "graded", **dict.fromkeys(needs, "needs a person")}
    assert [r.student for r in results if needs.get(r.student, "") not in r.note] == []
    assert all(line.isprintable() for line in closing_table(results))
    feedback = make_feedback(scratch, lesson)
    told = {Path(page).parent.parent.name for page in feedback.pages}
    assert {"good", "garbage", "waits"} == told  # who has a plain notebook there; the two read why nothing was graded
    assert all(line.isprintable() for line in feedback.lines())
    page, _ = make_report(scratch, lesson)
    assert "larger than 5 MB" in page.read_text()


def test_what_lies_beside_a_submission_is_a_plain_file_or_left_out(scratch: Course, hand_in) -> None:
    """A notice about a refused submission goes by the secret beside it: a link would send it by somebody else's."""
    lesson, path = scratch.lesson(LESSON), hand_in(scratch, "mallory", {})
    hand_in(scratch, "bob", {}).with_name(SECRET).write_text("bob's")
    path.with_name(SECRET).symlink_to(f"../../bob/{LESSON}/{SECRET}")
    path.with_name(TIMESTAMP).write_text("2026-11-01 00:00:00 UTC" + " " * MOST_BESIDE)
    assert list(files_beside(scratch, lesson, "mallory")) == [path.name]
    assert list(files_beside(scratch, lesson, "bob")) == [path.name, SECRET]


def test_a_graded_notebook_with_such_a_name_gets_a_line_in_place_of_a_page(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    for student in ("a[bc]", "two\nlines"):
        path = scratch.graded_notebook(lesson, student)
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    lines = make_feedback(scratch, lesson).lines()
    assert [line.startswith("no feedback for") and "rename the folder" in line for line in lines] == [True, True]
    assert "two\\nlines" in lines[1]


def test_a_time_is_written_also_where_nbgrader_has_made_the_file_read_only(
    scratch: Course, hand_in, right: dict[str, str]
) -> None:
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "ada", right).with_name("timestamp.txt").write_text("2026-11-02 10:05:09 UTC")
    earlier = scratch.graded_notebook(lesson, "ada").with_name("timestamp.txt")
    earlier.parent.mkdir(parents=True)
    earlier.write_text("2026-11-01 00:00:00 UTC")
    before = earlier.stat().st_ino
    (result,) = grade_lesson(scratch, lesson, options={"allow_unsandboxed": True})
    assert isinstance(result, StudentResult)
    assert result.status == "graded"
    assert earlier.read_text() == "2026-11-02 10:05:09 UTC"
    assert earlier.stat().st_ino != before  # replaced, so its mode does not matter, as it would not for root


def test_whether_an_id_has_a_name_is_asked_again_after_a_while(monkeypatch) -> None:
    moment, names = [1000.0], dict[int, SimpleNamespace]()
    monkeypatch.setattr(plain_files, "time", SimpleNamespace(monotonic=lambda: moment[0]))
    monkeypatch.setattr(plain_files, "pwd", SimpleNamespace(getpwuid=names.__getitem__))
    plain_files.named_at.cache_clear()
    assert named(4321) == NAMELESS  # the directory service is away, and comes back
    names[4321] = SimpleNamespace(pw_uid=4321)
    assert named(4321) == NAMELESS
    moment[0] += KNOWN_SECONDS
    assert named(4321) == 4321
    plain_files.named_at.cache_clear()


def test_ids_without_a_name_take_no_more_than_their_time(tmp_path: Path, monkeypatch) -> None:
    moment = [1000.0]

    def slow(uid: int) -> int:
        moment[0] += NAMES_SECONDS / 4
        return NAMELESS

    monkeypatch.setattr(plain_files, "time", SimpleNamespace(monotonic=lambda: moment[0]))
    monkeypatch.setattr(plain_files, "named", slow)
    names = [f"ada+{number}" for number in range(20)]
    for name in names:
        (tmp_path / name).mkdir()
    with open_folder(tmp_path) as folder:
        assert len(owners_in(folder, "", names)) == 5
