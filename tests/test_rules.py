"""When a lesson is due, which attempt is graded next, and which one counts. No test here waits for a clock."""

import csv
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from traitlets.config import Config

from autograder.authoring.nbgrader_course import load_config
from autograder.authoring.notebook import read_notebook
from autograder.classroom.attempts import (
    REFUSED,
    USED,
    Attempt,
    about,
    as_text,
    changes,
    counting,
    read_attempts,
    write_attempts,
)
from autograder.classroom.deliveries import COLLECTED, COLLECTED_BEFORE, Delivered, Turn, next_turn
from autograder.classroom.feedback import notice_page
from autograder.classroom.feedback_page import times_of
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.report import exercises_of, html_of, make_report
from autograder.classroom.rules import FREE, GRACE, Rules, duration, rules_now, rules_of
from autograder.classroom.run import register
from autograder.classroom.submissions import time_in
from autograder.classroom.writer import GradebookWriter
from autograder.errors import CourseError
from autograder.paths import Course, Lesson
from autograder.student.feedback import latest_feedback
from autograder.student.progress import Overview, lesson_progress
from autograder.student.titles import titles_in

from .conftest import LESSON
from .handing_in import configure

NOON = datetime(2026, 11, 30, 12)
MINUTE = timedelta(minutes=1)
BERLIN = {"time_zone": "Europe/Berlin", "due": "2026-11-30 23:59"}


def rules(**settings: object) -> Rules:
    return rules_of(Config(HandIn=settings), LESSON)


def test_a_lessons_own_rules_outrank_everybodys_and_times_are_in_the_courses_zone() -> None:
    found = rules(**BERLIN, lessons={LESSON: {"due": "2026-12-01 12:00", "extensions": {"ada": "2026-12-02 12:00"}}})
    assert found.due_for("bob") == datetime(2026, 12, 1, 11)
    assert found.due_for("ada") == datetime(2026, 12, 2, 11)
    assert found.shown(datetime(2026, 12, 1, 11)) == "Tue 1 Dec 2026, 12:00 CET"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"due": "tomorrow"}, "'tomorrow' is not a time"),
        ({"time_zone": "Mars"}, "'Mars' is not a time zone"),
        ({"counts": "worst"}, "counts"),
        ({"dew": "2026-11-30"}, "no 'dew'"),
        ({"lessons": {LESSON: {"pause": -1}}}, "pause"),
    ],
)
def test_what_cannot_be_is_one_line_that_names_the_file(settings: dict, words: str) -> None:
    with pytest.raises(CourseError, match=r"nbgrader_config\.py") as error:
        rules(**settings)
    assert words in str(error.value)


def test_a_lesson_that_there_is_not_is_named(scratch: Course) -> None:
    configure(scratch, f"c.HandIn.lessons = {{'02_query': {{'pause': 1}}, 2: {{}}, {LESSON!r}: {{'pause': 5}}}}\n")
    with pytest.raises(CourseError, match=r"nbgrader_config\.py: .* 02_query, 2,"):
        rules_now(scratch, LESSON)
    configure(scratch, f"c.HandIn.lessons = {{{LESSON!r}: {{'pause': 5}}}}\n")
    assert rules_now(scratch, LESSON).pause == 5


@pytest.mark.parametrize("text", ["9999-12-31 23:59:59 UTC", "0001-01-01 00:00:00 UTC", "9000-01-02", "1969-12-31"])
def test_a_time_that_cannot_be_is_none(text: str) -> None:
    assert time_in(text) is None


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Europe/Berlin"])
def test_a_lesson_that_is_due_at_the_end_of_time_is_one_that_can_be_handed_in(zone: str) -> None:
    written = rules(due="9999-12-31 23:59:59", extensions={"ada": "9999-12-31 23:59:59"}, time_zone=zone)
    entered = rules_of(Config(HandIn={"time_zone": zone}), LESSON, {LESSON: datetime.max})
    for found in (written, entered):
        assert not found.explains_hidden(NOON)
        assert found.due_in_words().startswith("due ")


def test_a_time_that_no_zone_has_is_one_line() -> None:
    with pytest.raises(CourseError, match="is not a time"):
        rules(due="9999-12-31 23:59:59", time_zone="America/New_York")


def test_a_look_at_the_rules_makes_no_gradebook_although_it_knows_its_dates(scratch: Course, monkeypatch) -> None:
    assert rules_now(scratch, LESSON).due is None  # there is no gradebook yet
    register(scratch, scratch.lesson(LESSON))
    with open_gradebook(scratch) as gradebook:
        gradebook.find_assignment(LESSON).duedate = NOON
        gradebook.db.commit()
    monkeypatch.setattr("autograder.classroom.gradebook.Gradebook", None)  # it takes ten times as long as the look
    assert rules_now(scratch, LESSON).due == NOON


def test_hidden_checks_are_explained_when_it_is_due_for_everybody() -> None:
    found = rules(due="2026-11-30 12:00", extensions={"ada": "2026-12-02 12:00"})
    assert not found.explains_hidden(NOON + timedelta(days=1))
    assert found.explains_hidden(NOON + timedelta(days=3))
    for seconds, explained in ((59, False), (61, True)):  # by then, what arrived in time is copied
        assert rules(due="2026-11-30 12:00").explains_hidden(NOON + timedelta(seconds=seconds)) is explained
    assert not rules().explains_hidden(NOON)
    assert rules(hidden_checks="explained").explains_hidden(NOON)


@pytest.mark.parametrize("written", ["2026-11-30", "20261130"])
def test_a_day_without_a_time_means_its_end(written: str) -> None:
    found = rules(due=written, extensions={"ada": "2026-12-02"}, time_zone="Europe/Berlin")
    assert found.due == rules(**BERLIN).due
    assert found.shown(found.due_for("ada")) == "Wed 2 Dec 2026, 23:59 CET"


def test_every_page_says_when_it_is_due_and_for_whom_it_is_later(key) -> None:
    assert rules().due_in_words() == ""
    assert rules(**BERLIN).due_in_words() == "due Mon 30 Nov 2026, 23:59 CET"
    later = rules(**BERLIN, extensions={"ada": "2026-12-02 23:59"})
    assert later.due_in_words() == "due Mon 30 Nov 2026, 23:59 CET, for 1 student at another time"
    assert times_of(later, "ada", None, 0.0) == ["Due Wed 2 Dec 2026, 23:59 CET."]
    html = html_of(Lesson(LESSON, Path()), key, [], exercises_of(key, []), (), later)
    assert "at another time: ada, Wed 2 Dec 2026, 23:59 CET.</p>" in html


def test_after_twenty_attempts_the_pause_doubles() -> None:
    assert rules().pause_after(FREE) == MINUTE
    assert rules().pause_after(FREE + 3) == 8 * MINUTE
    assert [rules(pause=0).pause_after(n) for n in (0, FREE, FREE + 10)] == [0 * MINUTE, 0 * MINUTE, 1024 * MINUTE / 60]
    week = sum((rules().pause_after(n) for n in range(1, 33)), timedelta())
    assert week > timedelta(days=5)


def test_the_pause_has_not_doubled_any_more_once_it_is_due_for_everybody() -> None:
    found = rules(due="2026-11-30 12:10", extensions={"eve": "2026-11-30 12:20"})
    had = [attempt(-9)] * (FREE + 10) + [attempt(0)]
    again, over = delivered(3), NOON + 20 * MINUTE + GRACE
    assert next_turn([again], had, rules(), over) == Turn(waiting=(again,), until=NOON + 2**11 * MINUTE)
    assert next_turn([again], had, found, NOON + 5 * MINUTE).until == over
    assert next_turn([again], had, found, over).chosen == again
    late = delivered(30.5)  # within the pause that there always is
    assert next_turn([late], [*had, attempt(30)], found, late.arrived).until == NOON + 31 * MINUTE


def delivered(minutes: float) -> Delivered:
    return Delivered(Lesson(LESSON, Path()), "ada", f"at {minutes}", NOON + minutes * MINUTE, dict)


def attempt(minutes: float, points: int = 1, **more: object) -> Attempt:
    when = (NOON + minutes * MINUTE).isoformat()
    return Attempt(f"of {minutes}", when, exercises={"attend": points}, of=4, released="open", **more)


def test_the_first_is_graded_at_once_and_of_those_in_the_pause_the_last() -> None:
    first, *others = (delivered(m) for m in (0, 0.2, 0.5, 3))
    turn = next_turn([first], [], rules(), first.arrived)
    assert turn.chosen == first
    turn = next_turn(others, [attempt(0)], rules(), NOON + 0.6 * MINUTE)
    assert (turn.chosen, turn.waiting) == (None, tuple(others[1:]))  # what is replaced need not be kept
    assert [each for each, _ in turn.left_out] == [others[0]]
    turn = next_turn(others, [attempt(0)], rules(), NOON + 4 * MINUTE)
    assert turn.chosen == others[1]
    assert [each for each, _ in turn.left_out] == [others[0]]
    assert turn.waiting == (others[2],)


def test_a_clock_that_is_set_back_makes_nobody_wait_and_leaves_nothing_out() -> None:
    before, later = delivered(-2), delivered(-60)  # what is seen later has arrived later, whatever its time
    assert next_turn([later], [attempt(0)], rules(), later.arrived).chosen == later
    turn = next_turn([before, later], [attempt(-9)], rules(), before.arrived)
    assert (turn.chosen, [each for each, _ in turn.left_out]) == (later, [before])
    collected = Attempt(COLLECTED, NOON.isoformat())
    assert next_turn([later], [collected], rules(), later.arrived).chosen == later


def test_a_clock_that_is_set_back_a_little_lengthens_a_pause_and_ends_it_not() -> None:
    again = delivered(-0.5)
    assert next_turn([again], [attempt(0)], rules(), again.arrived).waiting == (again,)
    assert next_turn([again], [attempt(0)], rules(), NOON + MINUTE).chosen == again


def test_an_attempt_that_was_not_released_is_no_reason_to_wait() -> None:
    again = delivered(0)
    assert next_turn([again], [replace(attempt(0), released="")], rules(), again.arrived).chosen == again


def test_no_more_than_the_rules_allow_is_graded_and_nothing_that_was_collected_before() -> None:
    one = delivered(5)
    assert next_turn([one], [attempt(0)], rules(attempts=1), one.arrived).left_out[0][0] == one
    old = next_turn([delivered(0), one], [Attempt(COLLECTED, NOON.isoformat())], rules(), one.arrived)
    assert (old.chosen, [why for _, why in old.left_out]) == (one, [COLLECTED_BEFORE])


def test_what_has_run_and_could_not_be_graded_is_no_free_try_for_ever() -> None:
    times = [(NOON + minute * MINUTE).isoformat() for minute in range(3)]
    ended = [Attempt(time, time, REFUSED, "why", submission="checksum") for time in times]
    again = delivered(2.5)
    assert next_turn([again], ended[:2], rules(attempts=1), again.arrived).chosen == again
    assert next_turn([again], ended, rules(), again.arrived).waiting == (again,)
    assert next_turn([again], ended, rules(attempts=1), again.arrived).left_out[0][0] == again
    unread = [Attempt(time, time, REFUSED, "not a notebook") for time in times]
    assert next_turn([again], unread, rules(attempts=1), again.arrived).chosen == again


def test_what_counts_no_more_since_the_lesson_changed_was_had_and_there_is_a_pause_after_it() -> None:
    had, again = [attempt(0), attempt(5, status=USED)], delivered(5.5)
    assert next_turn([again], had, rules(), again.arrived).waiting == (again,)
    assert next_turn([again], had, rules(attempts=2), again.arrived).left_out[0][0] == again
    undated = [Attempt(COLLECTED, released="full")]
    assert next_turn([again], undated, rules(attempts=1), again.arrived).left_out[0][0] == again


def test_of_what_came_of_something_nothing_is_decided_again() -> None:
    one = delivered(0)
    done = Attempt(one.name, one.arrived.isoformat(), released="open")
    assert next_turn([one], [done], rules(attempts=1), one.arrived) == Turn()


def test_the_best_counts_after_its_penalty_and_of_equals_the_latest() -> None:
    attempts = [attempt(0, 3), attempt(5, 1), attempt(9, 3), attempt(12, 4, penalty=2.0)]
    assert "penalty" not in as_text(attempts)
    assert counting(attempts, best=True) is attempts[2]
    assert counting(attempts, best=False) is attempts[3]
    assert changes(attempts)[1:] == ["2. 1 of 4: attend 3 → 1", "3. 3 of 4: attend 1 → 3", *changes(attempts)[3:]]
    assert changes(attempts)[3] == "4. 2 of 4, 2 off for being late: attend 3 → 4"
    assert about(attempts, "", True)[1] == ["Attempt 3. It counts, being the best so far."]
    assert about(attempts, "", True, apart=True)[1] == [
        "Attempt 4. It does not count: attempt 3 counts, with 3 of 4 points for the exercises."
    ]


def test_a_penalty_is_by_the_rules_as_they_are_now(scratch: Course) -> None:
    lesson, late = scratch.lesson(LESSON), {"LateSubmissionPlugin": {"penalty_method": "zero"}}
    write_attempts(scratch, lesson, "ada", attempt(0, 3), attempt(5, 1, late=True), attempt(9, 2, timed=False))
    for due, expected in (("2026-11-30 11:00", [3, 1, 0]), ("2026-11-30 13:00", [0, 1, 0]), ("", [0, 0, 0])):
        found = read_attempts(scratch, lesson, "ada", rules_of(Config(HandIn={"due": due}, **late), LESSON))
        assert [each.penalty for each in found] == expected


@pytest.mark.parametrize(
    ("seconds", "words"), [(30, "less than a minute"), (90_000, "1 day 1 hour"), (120, "2 minutes")]
)
def test_a_time_span_is_said_in_two_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_what_canvas_calls_late_is_late_and_extensions_are_nbgraders(
    scratch: Course, reported: Course, full: int
) -> None:
    lesson = scratch.lesson(LESSON)
    settings = {"due": "2026-11-30 12:00", "extensions": {"ada": "2026-12-02 12:00"}}
    late = {"HandIn": settings, "LateSubmissionPlugin": {"penalty_method": "zero"}}
    config = Config({**load_config(scratch.root), **late})
    notebook = read_notebook(reported.graded_notebook(lesson, "right_101"))
    register(scratch, lesson)
    with open_gradebook(scratch) as gradebook:
        writer = GradebookWriter(gradebook, config, LESSON)
        writer.save("bob", notebook, None, late=True)
        writer.save("ada", notebook, NOON + timedelta(days=1))
        submissions = {s.student.id: s for s in gradebook.assignment_submissions(LESSON)}
        found = {n: (s.total_seconds_late, s.score - s.late_submission_penalty) for n, s in submissions.items()}
    assert found == {"bob": (1.0, 0.0), "ada": (0.0, full)}


def test_the_start_page_shows_what_was_graded_beside_what_passes(reported: Course, tmp_path: Path) -> None:
    folder = tmp_path / LESSON
    page = folder / "feedback" / "2026-11-30 12:00:00.000000 UTC" / f"{LESSON}.html"
    page.parent.mkdir(parents=True)
    page.write_text(reported.feedback_page(reported.lesson(LESSON), "two_mistakes").read_text())
    graded = latest_feedback(folder)
    assert " Graded " in graded.about
    assert graded.points["2.1 project_qkv"] == "2 of 2"
    assert graded.points["2.3 attend"].startswith("0 of")
    prints = json.loads(reported.lesson(LESSON).fingerprints_json.read_text())
    titles = titles_in(reported.lesson(LESSON).released_dir / f"{LESSON}.ipynb")
    shown = Overview([lesson_progress(prints, {LESSON: {"attend": "passed"}}, graded, titles=titles)])
    points = graded.points["2.3 attend"]
    assert f"✓ 2.3 attend passed here, graded {points} points" in repr(shown)
    assert "○ 2.1 project_qkv not started here, graded 2 of 2 points" in repr(shown)
    assert "Question R2: 0 of 2." in repr(shown)
    assert f">2.3 attend</a> passed here, graded {points} points" in shown._repr_html_()
    assert f"<a href='{LESSON}/feedback/2026-11-30%2012%3A00%3A00.000000%20UTC/{LESSON}.html'>Feedback</a>" in (
        shown._repr_html_()
    )


def test_a_page_that_is_no_feedback_shows_nothing(tmp_path: Path) -> None:
    assert latest_feedback(tmp_path / LESSON) is None
    page = tmp_path / LESSON / "feedback" / "now" / f"{LESSON}.html"
    page.parent.mkdir(parents=True)
    page.write_bytes(b"\xff")
    assert latest_feedback(tmp_path / LESSON) is None
    page.write_text("<p>not graded</p><tr><td>odd")
    assert latest_feedback(tmp_path / LESSON).about == "not graded"


def test_why_an_attempt_was_not_graded_stands_beside_what_was(reported: Course, tmp_path: Path) -> None:
    lesson = reported.lesson(LESSON)
    pages = {"2026-11-30 12:00": reported.feedback_page(lesson, "two_mistakes").read_text()}
    pages["2026-11-30 12:01"] = notice_page(lesson, "you handed in again.")
    for when, text in pages.items():
        page = tmp_path / LESSON / "feedback" / when / f"{LESSON}.html"
        page.parent.mkdir(parents=True)
        page.write_text(text)
    graded = latest_feedback(tmp_path / LESSON)
    assert graded.about.startswith("An attempt was not graded. You handed in again. ")
    assert graded.points["2.1 project_qkv"] == "2 of 2"
    assert graded.page.startswith(f"{LESSON}/feedback/2026-11-30 12:00/")


def test_the_report_shows_attempts_and_what_changed(reported: Course, tmp_path: Path) -> None:
    from .conftest import copy_course

    course = copy_course(reported, tmp_path)
    lesson = course.lesson(LESSON)
    odd = attempt(0, 1, flags=["look at cell 1: gc.get_objects"])
    for each in (odd, replace(odd, delivery="again", status=USED), attempt(5, 3)):
        write_attempts(course, lesson, "right_101", each)
    page, table = make_report(course, lesson)
    assert "2. 3 of 4: attend 1 → 3" in page.read_text()
    assert "look at cell 1: gc.get_objects (in an attempt that does not count)" in page.read_text()
    with table.open(encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert (rows["right_101"]["attempts"], rows["fragile"]["attempts"]) == ("2", "")
    assert rows["right_101"]["note"].count("gc.get_objects") == 1
