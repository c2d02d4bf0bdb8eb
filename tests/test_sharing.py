"""What `check` tells a board: nothing unseen, in order, once, and without anybody waiting."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from autograder.classroom.board_messages import MESSAGE
from autograder.classroom.board_state import message_words
from autograder.errors import CourseError
from autograder.judging.case import Failure
from autograder.judging.sentences import CHANGES
from autograder.judging.verdict import Result, Verdict
from autograder.student import progress, telling
from autograder.student.sharing import KEPT, SENTENCES, message_id, notice, sharing, tell_board
from autograder.student.telling import MOST_CODE, MOST_KEPT, append, deliver, queue_beside, read_lines

from .waiting import wait_until

RIGHT = Verdict("attend", (Result("title", 1, True, False),))
WRONG = Verdict("attend", (Result("title", 1, False, False),), Failure("title", "no", mistake="no_scaling"))
STUB = Verdict("attend", (Result("title", 1, False, False),), Failure("title", "not started"), started=False)


class Board(HTTPServer):
    """A board that keeps what it is told, unless it is to answer something else."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.status, self.bodies, self.tokens = 200, [], []

    @property
    def told(self) -> list[dict]:
        return [one for body in self.bodies for one in json.loads(body)["tries"]]


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.tokens.append((self.path, self.headers["Authorization"]))
        if self.server.status == 200:
            self.server.bodies.append(body)
        self.answer({})

    def do_DELETE(self) -> None:
        self.server.tokens.append((self.command, self.headers["Authorization"]))
        self.answer({})

    def do_GET(self) -> None:
        row = {"lesson": "07_x", "exercise": "attend", "passed": False, "message": "a", "time": 0.0, "code": None}
        self.answer({"tries": [row]})

    def answer(self, content: dict) -> None:
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lesson's folder as a student has it open on a hub; the thread that sends is run on demand."""
    lesson = tmp_path / "07_x"
    lesson.mkdir()
    (lesson / "fingerprints.json").write_text("{}")
    (tmp_path / "index.ipynb").write_text("{}")
    monkeypatch.chdir(lesson)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    monkeypatch.setenv("JPY_SESSION_NAME", "07_x.ipynb")
    monkeypatch.setenv("LESSONS_BOARD", "/nowhere")
    monkeypatch.setattr("autograder.student.sharing.deliver_soon", lambda _queue: None)
    return lesson


@pytest.fixture
def board(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    server = Board()
    monkeypatch.setenv("LESSONS_BOARD", f"http://127.0.0.1:{server.server_port}/services/board/")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def queue(folder: Path) -> Path:
    return queue_beside(folder.parent / "sharing.json")


def tell(verdict: Verdict, work: object = None) -> str:
    return repr(tell_board("attend", verdict, work) or "")


def agree() -> None:
    assert "tells your teacher's board" in tell(RIGHT)


def test_without_a_board_nothing_is_said_kept_or_sent(folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.delenv("LESSONS_BOARD")
    assert (notice(), tell_board("attend", WRONG, None)) == (None, None)
    sharing()
    assert capsys.readouterr().out == "There is no board here: `check` tells nobody anything.\n"
    assert [path.name for path in folder.parent.iterdir() if "sharing" in path.name] == []


def test_nothing_is_told_before_the_sentence_was_shown(folder: Path, queue: Path) -> None:
    agree()
    assert not queue.exists()  # nor what was checked while it was being shown
    assert tell(WRONG) == "''"
    assert len(read_lines(queue)) == 1
    assert "shown" in json.loads((folder.parent / "sharing.json").read_text())


def test_the_start_page_shows_it_too(folder: Path, queue: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr(progress, "released_prints", lambda _here: [])
    progress.progress()
    assert SENTENCES["on"] in capsys.readouterr().out
    monkeypatch.chdir(folder)
    tell(WRONG)
    assert len(read_lines(queue)) == 1


def test_what_runs_where_nobody_sees_it_counts_as_not_shown(folder: Path, queue: Path, monkeypatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME")
    agree()
    agree()
    assert not queue.exists()


def test_a_try_has_no_code_and_no_more_than_the_sentence_says(queue: Path, folder: Path) -> None:
    agree()
    tell(WRONG)
    tell(RIGHT)
    tell(STUB)
    wrong, right = map(json.loads, read_lines(queue))
    assert wrong.keys() == {"id", "lesson", "exercise", "passed", "message", "time"}
    assert [wrong[key] for key in ("lesson", "exercise", "passed", "message")] == [
        "07_x",
        "attend",
        False,
        "no_scaling",
    ]
    assert (right["passed"], right["message"]) == (True, "")
    assert wrong["id"] != right["id"]


def test_code_goes_along_where_the_student_has_said_so(queue: Path, folder: Path, monkeypatch) -> None:
    monkeypatch.setattr("autograder.student.sharing.defining_cell", lambda _work: "x" * 2 * MOST_CODE)
    sharing("code")
    tell(WRONG)
    assert json.loads(*read_lines(queue))["code"] == "x" * MOST_CODE
    sharing("on")
    tell(WRONG)
    tell(RIGHT)
    codes = [json.loads(line).get("code") for line in read_lines(queue)]
    assert codes == [None, None]  # what waited with code is not sent any more


@pytest.mark.parametrize("choice", ["on", "off"])
def test_who_shares_code_no_longer_has_the_board_delete_it(board: Board, queue: Path, capsys, choice: str) -> None:
    sharing("code")
    assert board.tokens == []
    append(queue, {"id": "1", "code": "x"})
    sharing(choice)
    assert board.tokens == [("DELETE", "token secret")]
    assert not queue.exists()
    board.status = 503
    sharing(choice)
    assert capsys.readouterr().out.splitlines()[-1] == KEPT


def test_off_is_off_and_drops_what_waits(queue: Path, folder: Path, capsys) -> None:
    agree()
    tell(WRONG)
    sharing("off")
    assert not queue.exists()
    assert tell(WRONG) == "''"
    assert not queue.exists()
    sharing()
    assert capsys.readouterr().out.splitlines()[-1] == SENTENCES["off"]


def test_a_choice_that_does_not_exist_is_refused(folder: Path) -> None:
    with pytest.raises(CourseError, match='Choose "on", "off", "code" or "show"'):
        sharing("maybe")


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (Failure("t", "m", mistake="no_scaling", rule="known_mistake"), "no_scaling"),
        (Failure("t", "m", rule="repair"), "repair"),
        (Failure("t", "Line 2, `a`: along another axis, everything passes.", rule="repair"), "repair:axis"),
        (Failure("t", "Line 2, `a`: with the dtype of `b.c`, it passes.", rule="repair"), "repair:dtype"),
        (Failure("t", "m", rule="what_is_there"), "what_is_there"),
        (Failure("t", "m", problem="it stopped"), "unexplained"),
    ],
)
def test_a_message_goes_by_its_mistake_or_its_rule(failure: Failure, expected: str) -> None:
    assert message_id(failure) == expected


@pytest.mark.parametrize("edit", CHANGES)
def test_the_board_takes_the_id_of_every_edit_and_has_words_for_it(edit: str) -> None:
    name = message_id(Failure("t", f"Line 2, `a`: {CHANGES[edit]}, every check passes.", rule="repair"))
    assert MESSAGE.fullmatch(name)
    assert message_words(name, {}) != message_words("repair", {})


def test_what_waits_is_sent_in_order_by_the_servers_token(queue: Path, board: Board, folder: Path) -> None:
    for number in range(120):
        append(queue, {"id": str(number)})
    deliver(queue)
    assert [one["id"] for one in board.told] == [str(number) for number in range(120)]
    assert set(board.tokens) == {("/services/board/tries", "token secret")}
    assert len(board.bodies) == 3
    assert not queue.exists()


@pytest.mark.parametrize("status", [302, 403, 429, 500, 503])
def test_where_the_board_does_not_take_it_a_later_check_sends_it(queue: Path, board: Board, status: int) -> None:
    append(queue, {"id": "1"})
    board.status = status
    deliver(queue)
    assert len(board.tokens) == 1  # nobody is asked twice, or elsewhere
    board.status = 200
    append(queue, {"id": "2"})
    deliver(queue)
    assert [one["id"] for one in board.told] == ["1", "2"]


@pytest.mark.parametrize("address", ["/no/socket", "http://127.0.0.1:9", "no address", "http://[", "https://:x"])
def test_an_address_where_nobody_listens_breaks_nothing(queue: Path, folder: Path, monkeypatch, address: str) -> None:
    monkeypatch.setenv("LESSONS_BOARD", address)
    append(queue, {"id": "1"})
    deliver(queue)
    assert read_lines(queue) == ['{"id": "1"}']


def test_what_the_board_will_never_take_is_dropped(queue: Path, board: Board) -> None:
    append(queue, {"id": "1"})
    board.status = 413
    deliver(queue)
    assert not queue.exists()


def test_the_queue_is_bounded_and_survives_damage(queue: Path, folder: Path) -> None:
    queue.write_text("".join(f"{number}\n" for number in range(2 * MOST_KEPT)))
    append(queue, {})
    assert len(read_lines(queue)) == MOST_KEPT
    queue.write_bytes(b"\xff\xff")
    append(queue, {"id": "1"})
    assert read_lines(queue) == ['{"id": "1"}']


def test_check_does_not_wait_for_a_board_that_says_nothing(queue: Path, folder: Path, monkeypatch) -> None:
    asked, answer = threading.Event(), threading.Event()

    def request(*_: object) -> tuple[int, bytes]:
        asked.set()
        answer.wait()
        return 200, b""

    monkeypatch.setattr(telling, "request", request)
    monkeypatch.setattr("autograder.student.sharing.deliver_soon", telling.deliver_soon)
    agree()
    tell(WRONG)
    asked.wait()
    tell(RIGHT)  # comes back while the board has not answered yet
    assert len(read_lines(queue)) == 2
    answer.set()
    wait_until(lambda: not queue.exists() and not telling._running)


def test_a_read_only_folder_breaks_no_check(queue: Path, folder: Path, monkeypatch) -> None:
    agree()

    def refuse(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(telling, "replace_text", refuse)
    tell(WRONG)
    assert not queue.exists()


def test_a_student_reads_what_is_kept(board: Board, folder: Path, capsys) -> None:
    sharing("show")
    assert capsys.readouterr().out.endswith("  07_x  attend: a\n")
    board.status = 503
    with pytest.raises(CourseError, match="The board does not answer"):
        sharing("show")
