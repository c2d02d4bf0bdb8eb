"""The gradebook in PostgreSQL: every command, several graders at once, and a server that does not do what it should."""

import csv
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import text

from autograder.__main__ import main
from autograder.authoring.nbgrader_course import load_config, read_config
from autograder.authoring.notebook import read_notebook
from autograder.classroom.alone import only_one
from autograder.classroom.database import lock_student_rows
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson, register
from autograder.classroom.writer import GradebookWriter
from autograder.errors import CourseError
from autograder.paths import Course

from .conftest import LESSON, copy_course, needs_sandbox
from .postgres import PASSWORD, Server, needs_postgres, serving
from .test_writer import QUESTION, TABLES, rows_in

pytestmark = [needs_sandbox, needs_postgres, pytest.mark.slow]
COMMANDS = ("register", "grade", "feedback", "report", "grades", "canvas", "moodle")
FILES = ("grades.csv", "canvas.csv", "moodle.csv", f"reports/{LESSON}.csv")
NAMED = ("assignment", "notebook", "source_cell")
CUT_OFF = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
GRADE = [sys.executable, "-m", "autograder", "grade", "--lesson", LESSON, "--jobs", "1"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what a test has set, passwords above all."""
    monkeypatch.setenv("PGPASSWORD", "")
    yield
    read_config.cache_clear()


def use(monkeypatch: pytest.MonkeyPatch, course: Course, url: str | None) -> Course:
    """Have a course's gradebook in a database; None stands for the file."""
    monkeypatch.setenv("GRADEBOOK_URL", url or "")
    monkeypatch.chdir(course.root)
    read_config.cache_clear()
    return course


def run(command: str) -> int:
    arguments = ["--lesson", LESSON] if command in ("register", "grade", "feedback", "report") else []
    return main([command, *arguments, *(["--seed", "5"] if command == "grade" else [])])


@pytest.fixture(scope="module")
def template(server: Server, pristine: Course, tmp_path_factory) -> str:
    """A database that was empty until four registered the lesson in it at once. Making one takes nbgrader seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", "")
        course = use(patch, copy_course(pristine, tmp_path_factory.mktemp("template")), server.make("registered"))
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _number: register(course, course.lesson(LESSON)), range(4)))
    read_config.cache_clear()
    return "registered"


@pytest.fixture(scope="module")
def walks(
    server: Server, template: str, pristine: Course, hand_in, right, tmp_path_factory
) -> Iterator[dict[str, Course]]:
    """Run every command over the same class, with a file and with PostgreSQL."""
    found = {}
    for name, url in {"sqlite": None, "postgresql": server.make("walk", template)}.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGPASSWORD", "")
            course = use(patch, copy_course(pristine, tmp_path_factory.mktemp(name)), url)
            hand_in(course, "ada", {**right, QUESTION: "Keys find, values give."})
            hand_in(course, "tom", {})
            logging.getLogger().setLevel(logging.DEBUG)
            assert [run(command) for command in COMMANDS] == [0] * len(COMMANDS)
            found[name] = course
    yield found
    logging.getLogger().setLevel(logging.WARNING)


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_the_rows_that_a_file_would_have(walks, server, monkeypatch, table: str) -> None:
    rows = {}
    for name, url in {"sqlite": None, "postgresql": server.url("walk")}.items():
        rows[name] = rows_in(use(monkeypatch, walks[name], url))[table]
    assert rows["postgresql"] == rows["sqlite"]
    assert rows["sqlite"]


@pytest.mark.parametrize("name", FILES)
def test_every_exported_table_is_the_same(walks: dict[str, Course], name: str) -> None:
    tables = [list(csv.reader((course.coursework / name).read_text().splitlines())) for course in walks.values()]
    assert tables[0] == tables[1]
    assert len(tables[0]) > 2


def test_no_file_of_the_course_has_the_password(walks: dict[str, Course]) -> None:
    files = [path for path in walks["postgresql"].root.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_says_the_password(walks, server, monkeypatch, capfd, caplog, command: str) -> None:
    use(monkeypatch, walks["postgresql"], server.url("walk"))
    with caplog.at_level(logging.DEBUG):
        assert run(command) == 0
    shown = capfd.readouterr()
    assert PASSWORD not in shown.out + shown.err + caplog.text


@pytest.fixture
def registered(server: Server, template: str, scratch: Course, monkeypatch, request) -> Course:
    """A course whose lesson is in a database of the test's own."""
    return use(monkeypatch, scratch, server.make(request.node.name[:60], template))


def database_of(course: Course) -> str:
    with open_gradebook(course) as gradebook:
        return str(gradebook.engine.url.database)


def test_four_who_register_at_once_in_an_empty_database_register_once(server: Server, template: str) -> None:
    counted = {
        table: server.execute(f"SELECT count(*), count(DISTINCT name) FROM {table}", template) for table in NAMED
    }
    assert all(rows == names > 0 for [(rows, names)] in counted.values())
    assert server.execute("SELECT count(*) FROM alembic_version", template) == [(1,)]


def test_two_graders_divide_a_class_and_share_a_student(
    server, pristine, hand_in, right, full: int, tmp_path: Path
) -> None:
    environment = {**os.environ, "GRADEBOOK_URL": server.make("two")}
    graders = []
    for name, students in {"one": ["ada", "shared"], "two": ["shared", "tom"]}.items():
        (tmp_path / name).mkdir()
        course = copy_course(pristine, tmp_path / name)
        for student in students:
            hand_in(course, student, right)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        graders.append(subprocess.Popen(GRADE, cwd=course.root, env=environment, text=True, **pipes))
    said = [grader.communicate()[0] for grader in graders]
    assert [grader.returncode for grader in graders] == [0, 0], said
    assert all("2 graded, 0 need a person." in text for text in said)
    scores = "SELECT s.student_id, sum(g.auto_score) FROM submitted_assignment s JOIN submitted_notebook n ON"
    scores += " n.assignment_id = s.id JOIN grade g ON g.notebook_id = n.id GROUP BY s.id ORDER BY 1"
    assert server.execute(scores, "two") == [("ada", full), ("shared", full), ("tom", full)]


def test_of_two_clones_with_one_database_one_serves_and_the_other_waits(
    server: Server, pristine: Course, scratch: Course, monkeypatch, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    clones = [use(monkeypatch, scratch, server.make("served")), copy_course(pristine, tmp_path / "second")]
    said, in_turn = list[str](), Event()

    def second() -> None:
        with only_one(clones[1], said.append):
            in_turn.set()

    with ThreadPoolExecutor(1) as pool, only_one(clones[0], said.append) as alone:
        waiting = pool.submit(second)
        assert not in_turn.wait(2)
        assert alone()
        assert len(said) == 1
        server.execute(CUT_OFF)  # as a server does that starts anew: the first one has to notice
        waiting.result(60)
        assert in_turn.is_set()
        assert [alone(), alone()] == [False, True]  # by then, another one may have served


def test_who_writes_the_same_student_waits_and_writes_no_row_twice(registered: Course) -> None:
    notebook = read_notebook(registered.lesson(LESSON).released_dir / f"{LESSON}.ipynb")

    def write() -> None:
        with open_gradebook(registered) as gradebook:
            GradebookWriter(gradebook, load_config(registered.root), LESSON).save("ada", notebook, None)

    with open_gradebook(registered) as first, ThreadPoolExecutor(1) as pool:
        lock_student_rows(first.db, "ada")
        first.db.execute(text("INSERT INTO student (id) VALUES ('ada')"))
        second = pool.submit(write)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        first.db.commit()
        second.result()
    assert {row[0] for row in rows_in(registered)["grade"]} == {"ada"}


def test_opening_waits_for_nobody_who_writes(registered: Course) -> None:
    with open_gradebook(registered) as writing:
        writing.db.execute(text("INSERT INTO student (id) VALUES ('ada')"))
        writing.db.execute(text("LOCK TABLE grade, comment IN ROW EXCLUSIVE MODE"))
        register(registered, registered.lesson(LESSON))  # would wait until the end of the transaction


@pytest.mark.parametrize(
    ("user", "password", "database", "words"),
    [
        ("teacher", "wrong-guess", "postgres", "password authentication failed"),
        ("nobody", "wrong-guess", "postgres", "password authentication failed"),
        ("teacher", PASSWORD, "elsewhere", 'database "elsewhere" does not exist'),
    ],
)
def test_who_may_not_enter_is_told_in_one_line(server, scratch, monkeypatch, capfd, user, password, database, words):
    use(monkeypatch, scratch, server.url(database, user, password))
    assert run("register") == 2
    line = capfd.readouterr().err.strip()
    assert words in line
    assert "GRADEBOOK_URL" in line
    assert "\n" not in line
    assert password not in line


def test_where_nothing_may_be_written_grading_stops_and_blames_no_student(
    registered: Course, server: Server, hand_in, capfd
) -> None:
    for student in ("ada", "ben"):
        hand_in(registered, student, {})
    server.execute(f"ALTER DATABASE {database_of(registered)} SET default_transaction_read_only = on")
    assert run("grade") == 2
    shown = capfd.readouterr()
    assert shown.err.strip().splitlines()[-1].startswith("error: The gradebook cannot be used (cannot execute ")
    assert "read-only transaction" in shown.err
    assert "Traceback" not in shown.err
    assert "needs a person" not in shown.out + shown.err


def test_who_may_only_read_exports_and_does_not_register(
    registered: Course, server: Server, monkeypatch, capfd
) -> None:
    name = database_of(registered)
    server.execute("CREATE ROLE reader LOGIN PASSWORD 'look-only'")
    server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
    use(monkeypatch, registered, server.url(name, "reader", "look-only"))
    assert [run(command) for command in ("grades", "canvas", "moodle", "register")] == [0, 0, 0, 0]
    use(monkeypatch, registered, server.url("postgres", "reader", "look-only"))
    capfd.readouterr()
    assert run("register") == 2
    line = capfd.readouterr().err.strip()
    assert "permission denied" in line
    assert "\n" not in line


def test_a_server_that_goes_away_stops_the_run_and_the_next_one_finishes(
    registered: Course, server: Server, hand_in, monkeypatch
) -> None:
    real, lesson = GradebookWriter.save, registered.lesson(LESSON)
    for student in ("ada", "ben"):
        hand_in(registered, student, {})

    def save(*given) -> None:
        server.execute(CUT_OFF)
        real(*given)

    with monkeypatch.context() as patch:
        patch.setattr(GradebookWriter, "save", save)
        with pytest.raises(CourseError, match="The gradebook cannot be used"):
            grade_lesson(registered, lesson)
    assert [result.status for result in grade_lesson(registered, lesson)] == ["graded", "graded"]
