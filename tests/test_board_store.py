"""The board's table: kept once, in order, forgotten on demand; in SQLite, and in PostgreSQL where there is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock, Timeout
from sqlalchemy import create_engine, event

from autograder.__main__ import main
from autograder.classroom import attempts, board_store
from autograder.classroom.attempts import Attempt, forget_attempts, read_attempts, write_attempts
from autograder.classroom.board_messages import OLDEST
from autograder.classroom.board_state import Try
from autograder.classroom.board_store import TRIES, BoardStore
from autograder.classroom.feedback import course_of_attempt
from autograder.paths import Course

from .conftest import LESSON
from .postgres import needs_postgres, serving

NOW = 1_800_000_000.0
DATABASES = ["sqlite", pytest.param("postgresql", marks=[pytest.mark.slow, needs_postgres])]
DELETED = (
    "Deleted what was kept about ada (tries on the board: 2; lessons with notes about attempts: 1). "
    "Submissions and grades were not touched.\n"
)


def told(
    number: int, student: str = "ada", message: str = "a", code: str | None = None, exercise: str = "attend"
) -> Try:
    return Try(student, exercise, not message, message, NOW + number, code, LESSON, f"{number:032x}")


@pytest.fixture(params=DATABASES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[BoardStore]:
    if request.param == "sqlite":
        yield empty(f"sqlite:///{tmp_path}/board.db")
        return
    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", "open-sesame")
        yield empty(server.make("board"))


def empty(url: str) -> BoardStore:
    engine = create_engine(url)
    TRIES.metadata.create_all(engine)
    engine.dispose()
    return BoardStore(url)


def test_what_is_sent_twice_is_kept_once_and_in_order(store: BoardStore) -> None:
    store.add([told(2), told(1)])
    store.add([told(2), told(3, message="")])
    assert [one.time - NOW for one in store.tries(LESSON)] == [1, 2, 3]
    assert [one.time - NOW for one in store.tries(LESSON, NOW + 2, NOW + 2.5)] == [2]
    assert store.done(LESSON, NOW + 2) == {("ada", "attend"): False}
    assert store.done(LESSON, NOW + 3) == {("ada", "attend"): True}
    assert store.done("another", NOW + 3) == {}


def test_nobody_overwrites_anothers_by_its_id(store: BoardStore) -> None:
    store.add([told(1)])
    store.add([told(1, student="eve", message="")])
    assert [(one["student"], one["message"]) for one in store.of_student("ada")] == [("ada", "a")]


def test_of_shared_code_only_the_latest_of_an_exercise_is_kept(store: BoardStore) -> None:
    store.add([told(1, code="first"), told(2, code="second"), told(3, code="other", exercise="other")])
    assert [one.code for one in store.tries(LESSON)] == [None, "second", "other"]
    store.add([told(4, code="third")])
    assert [one.code for one in store.tries(LESSON)] == [None, None, "other", "third"]


def test_of_a_student_so_many_tries_are_kept_and_the_oldest_go(store: BoardStore, monkeypatch) -> None:
    monkeypatch.setattr(board_store, "MOST_OF_A_STUDENT", 3)
    store.add([told(1, student="bob")])
    store.add([told(number) for number in (5, 1, 4, 2, 3)])
    assert [one["time"] - NOW for one in store.of_student("ada")] == [3, 4, 5]
    monkeypatch.setattr(board_store, "MOST_SHOWN", 2)
    assert [one["time"] - NOW for one in store.of_student("ada")] == [4, 5]
    assert len(store.of_student("bob")) == 1


def test_one_student_displaces_nobody_from_a_past_hour(store: BoardStore, monkeypatch) -> None:
    monkeypatch.setattr(board_store, "MOST_AT_ONCE", 2, raising=False)
    monkeypatch.setattr(board_store, "MOST_TRIES", 2, raising=False)
    store.add([told(1, student="bob"), *(told(number) for number in range(2, 9))])
    assert [(one.student, one.time - NOW) for one in store.tries(LESSON)] == [("bob", 1), ("ada", 7), ("ada", 8)]


def test_a_message_with_code_costs_the_same_after_a_term(tmp_path: Path) -> None:
    store, ran = empty(f"sqlite:///{tmp_path}/board.db"), []
    event.listen(store._engine, "before_cursor_execute", lambda *given: ran.append(given[2:4]))
    store.add([told(1, code="first")])
    with store._engine.begin() as connection:
        select, values = next(each for each in ran if each[0].startswith("SELECT"))
        plan = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {select}", values).all())
    assert "INDEX ix_autograder_board_code (student=? AND lesson=? AND exercise=?)" in plan


def test_a_student_is_forgotten_and_nobody_else(store: BoardStore) -> None:
    store.add([told(1), told(2), told(1, student="bob")])
    assert store.forget("ada") == 2
    assert (store.of_student("ada"), store.students()) == ([], ["bob"])
    assert store.forget("ada") == 0


def test_what_was_under_way_when_its_student_was_forgotten_does_not_come_back(store: BoardStore) -> None:
    store.add([told(1)])
    store.forget("ada", NOW + 2)
    store.add([told(2), told(3), told(1, student="bob")])
    assert [one["time"] - NOW for one in store.of_student("ada")] == [3]
    assert len(store.of_student("bob")) == 1
    store.forget("ada", NOW + 4)
    store.forget("bob", NOW + 5 + OLDEST)
    store.add([told(3)])  # nothing is under way for so long
    assert len(store.of_student("ada")) == 1


@pytest.mark.parametrize("step", [write_attempts, lambda course, lesson, name, *_: forget_attempts(course, name)])
def test_while_attempts_are_noted_nobody_is_forgotten_and_vice_versa(scratch: Course, monkeypatch, step) -> None:
    lesson, real, tried = scratch.lesson(LESSON), attempts.replace_text, []

    def try_to_change(*given) -> None:
        with pytest.raises(Timeout), FileLock(scratch.coursework / ".changing.lock", timeout=0):
            pass
        tried.append(real(*given))

    write_attempts(scratch, lesson, "ada", Attempt("one", released="open"))
    monkeypatch.setattr(attempts, "replace_text", try_to_change)
    step(scratch, lesson, "ada", Attempt("two"))
    assert tried == [None]


def test_a_courses_board_is_in_its_gradebook_with_its_students(scratch: Course, monkeypatch, capsys) -> None:
    store = BoardStore.of(scratch)
    store.add([told(1), told(2)])
    assert BoardStore.of(scratch).students() == ["ada"]
    lesson = scratch.lesson(LESSON)
    for student in ("ada", "bob"):
        write_attempts(scratch, lesson, student, Attempt("one"))
    left = course_of_attempt(scratch, lesson, "ada").submission(lesson, "ada")  # by a service that was killed
    left.parent.mkdir(parents=True)
    left.write_text("{}")
    monkeypatch.chdir(scratch.root)
    assert main(["forget", "--student", "ada"]) == 0
    assert capsys.readouterr().out == DELETED
    assert [path.name for path in scratch.attempts.iterdir()] == ["bob"]
    assert main(["forget", "--student", "ada"]) == 1
    assert capsys.readouterr().out == "Nothing is known about ada on the board or of attempts.\n"


def test_a_lab_after_which_nobody_has_handed_in_has_a_report(scratch: Course, monkeypatch, capsys) -> None:
    BoardStore.of(scratch).add([told(1)])
    monkeypatch.chdir(scratch.root)
    assert main(["report"]) == 0
    page, _ = (scratch.root / line for line in capsys.readouterr().out.splitlines())
    assert "Messages that helped" in page.read_text()


@pytest.mark.parametrize("name", ["..", "", ".", "/", "bob/..", "../../x", "bob/02"])
def test_only_a_students_own_folder_is_deleted(scratch: Course, name: str) -> None:
    write_attempts(scratch, scratch.lesson(LESSON), "bob", Attempt("one"))
    assert forget_attempts(scratch, name) == 0
    assert len(read_attempts(scratch, scratch.lesson(LESSON), "bob")) == 1
