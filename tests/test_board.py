"""The board's service: who may see it, who may tell it what, and what it makes of nonsense, floods and forgeries."""

import contextlib
import json
import os
import re
import socket
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from tornado.web import Application, create_signed_value

from autograder.__main__ import main
from autograder.authoring.nbgrader_course import load_config
from autograder.classroom import board_server, plain_files
from autograder.classroom.board import PAGES, BoardService, opens_own_server
from autograder.classroom.board_login import BoundedOAuth
from autograder.classroom.board_messages import ALLOWANCE, MOST_CODE, TRIES_OF_A_REQUEST, Allowance, Catalog, told_in
from autograder.classroom.board_store import TRIES, BoardStore
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import register
from autograder.errors import CourseError
from autograder.paths import Course
from autograder.student import telling

from .accounts import Account, accounts, acting_as, needs_accounts
from .board_hub import TEACHER, Running, running, server_of, user
from .conftest import LESSON, OVER_QUERIES
from .handing_in import configure
from .hub_server import documented_files
from .waiting import wait_until

DATA = ("lessons", f"events?lesson={LESSON}", f"past?lesson={LESSON}&from=0")
ADA, BOB = "token-of-ada", "token-of-bob"


@pytest.fixture(scope="module")
def board(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(course, tmp_path_factory.mktemp("board"), ["ada", "bob", "eve", "flood", "large"]) as found:
        yield found


@pytest.fixture(autouse=True)
def forget(board: Running) -> None:
    for name in ("ada", "bob", "eve", "flood"):
        board.service.store.forget(name, now=1.0)  # what is told in a test was told later
    board.service.allowance = Allowance()


def a_try(number: int = 1, **changes: Any) -> dict[str, Any]:
    made = {"id": f"{number:032x}", "lesson": LESSON, "exercise": "attend", "passed": False}
    return {**made, "message": "softmax_over_queries", "time": time.time() - 1, **changes}


def kept(board: Running, token: str = ADA) -> list[dict[str, Any]]:
    return board.ask(token, "tries").json()["tries"]


@pytest.mark.parametrize("token", ["", "no-token"])
def test_nobody_sees_a_page_without_logging_in(board: Running, token: str) -> None:
    for path in ("", "board.js"):
        answer = board.ask(token, path)
        assert (answer.status_code, "/hub/api/oauth2/authorize" in answer.headers["Location"]) == (302, True)
    for path in DATA:
        assert board.ask(token, path).status_code == 403


def test_only_whoever_may_use_the_service_sees_a_page(board: Running) -> None:
    assert [board.ask(ADA, path).status_code for path in ("", "board.js", *DATA)] == [403] * 5
    assert board.ask(TEACHER).status_code == 200
    assert {one["name"] for one in board.ask(TEACHER, "lessons").json()["lessons"]} >= {LESSON}


def test_a_page_may_not_be_framed_and_runs_nothing_from_elsewhere(board: Running) -> None:
    for path in ("", "board.js", "board.css", "lessons"):
        headers = board.ask(TEACHER, path).headers
        assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_student_writes_as_himself_and_reads_himself(board: Running) -> None:
    forged = a_try(student="bob", name="bob", user="bob")
    assert board.tell(ADA, forged).json() == {"kept": 1, "refused": 0}
    assert [one["student"] for one in kept(board)] == ["ada"]
    assert kept(board, BOB) == []
    assert board.ask(BOB, "tries?student=ada").json() == {"student": "bob", "tries": []}


@pytest.mark.parametrize("token", ["", "no-token", TEACHER, "token-for-another-service", "token-of-a-service"])
def test_no_other_token_tells_or_reads_anything(board: Running, token: str) -> None:
    assert board.tell(token, a_try()).status_code == 403
    assert board.ask(token, "tries").status_code == 403


def test_a_browsers_cookies_do_not_count(board: Running) -> None:
    cookie = {"Cookie": "service-board=whatever; jupyterhub-session-id=1; _xsrf=1"}
    assert board.ask("", "tries", "POST", data="{}", headers=cookie).status_code == 403


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (server_of("ada"), True),
        (user("ada", "access:servers!server=ada/second"), True),
        (user("ada", "access:servers!user=ada"), True),
        (user("ada", "access:servers!server=adam/"), False),
        (user("ad", "access:servers!server=ada/"), False),
        (user("ada", "access:servers!user=adam"), False),
        (user("ada", "read:users:name!user=ada"), False),
    ],
)
def test_a_token_counts_that_opens_its_owners_server(model: dict[str, Any], expected: bool) -> None:
    assert opens_own_server(model) is expected


def test_what_is_sent_twice_is_kept_once(board: Running) -> None:
    board.tell(ADA, a_try(1), a_try(2))
    board.tell(ADA, a_try(2), a_try(3))
    assert len(kept(board)) == 3


def test_what_a_students_side_sends_through_the_socket_arrives(board: Running, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("LESSONS_BOARD", str(board.socket))
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", ADA)
    queue = tmp_path / "queue"
    for number in range(3):
        telling.append(queue, a_try(number))
    telling.deliver(queue)
    assert not queue.exists()
    assert [one["id"] for one in telling.ask_board()] == [f"{number:032x}" for number in range(3)]


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "short"},
        {"id": None},
        {"id": "Z" * 32},
        {"lesson": "99_no_such"},
        {"lesson": ["02"]},
        {"exercise": "<script>"},
        {"exercise": {}},
        {"message": "<script>alert(1)</script>"},
        {"message": "x" * 81},
        {"message": ""},
        {"passed": "yes"},
        {"passed": 1},
        {"time": "now"},
        {"time": float("nan")},
        {"time": float("inf")},
        {"time": 10**400},
        {"time": 0},
        {"time": None},
    ],
)
def test_nonsense_is_left_out_and_the_rest_is_kept(board: Running, changes: dict[str, Any]) -> None:
    assert board.tell(ADA, a_try(1, **changes), a_try(2)).json() == {"kept": 1, "refused": 1}
    assert [one["id"] for one in kept(board)] == [f"{2:032x}"]


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"tries": 1}', '{"tries": [[]]}', "[" * 100_000, "\xff", "9" * 5000])
def test_a_body_that_is_none_breaks_nothing(board: Running, body: str) -> None:
    answer = board.ask(ADA, "tries", "POST", data=body.encode("latin-1"))
    assert answer.json() == {"kept": 0, "refused": 1}


def test_message_names_that_somebody_invents_are_one(board: Running) -> None:
    names = ("softmax_over_queries", "repair:dtype", "x", "y", "exception:x", "exception:y")
    board.tell(ADA, *(a_try(number, message=name, time=time.time() - 9 + number) for number, name in enumerate(names)))
    expected = ["softmax_over_queries", "repair:dtype", "unknown", "unknown", "exception", "exception"]
    assert [one["message"] for one in kept(board)] == expected


def test_a_time_ahead_of_the_clock_is_now(board: Running) -> None:
    board.tell(ADA, a_try(time=time.time() + 9e6))
    assert kept(board)[0]["time"] <= time.time()


@pytest.mark.parametrize("code", ["x" * 10 * MOST_CODE, "a\x00b", "\ud800", 7, ["x"], "</script><b>"])
def test_code_is_cut_to_what_a_database_keeps(board: Running, code: object) -> None:
    assert board.tell(ADA, a_try(code=code)).json()["kept"] == 1
    assert len(kept(board)[0]["code"] or "") <= MOST_CODE


def test_a_request_is_bounded(board: Running, course: Course) -> None:
    body = json.dumps({"tries": [a_try(n) for n in range(3 * TRIES_OF_A_REQUEST)]}).encode()
    told, refused = told_in(body, "ada", Catalog.of(course), time.time())
    assert (len(told), refused) == (TRIES_OF_A_REQUEST, 0)
    with contextlib.suppress(OSError):  # tornado closes the connection before all of it is read
        assert board.ask(ADA, "tries", "POST", data=b"x" * 2**21).status_code in (400, 413)


def test_a_flood_is_stopped_and_drowns_nobody(board: Running) -> None:
    answers = [
        board.tell(
            "token-of-flood", *(a_try(TRIES_OF_A_REQUEST * n + k) for k in range(TRIES_OF_A_REQUEST))
        ).status_code
        for n in range(int(ALLOWANCE) // TRIES_OF_A_REQUEST + 3)
    ]
    assert set(answers) == {200, 429}
    assert board.tell(BOB, a_try()).status_code == 200


def test_what_is_too_much_is_not_even_read(board: Running, monkeypatch) -> None:
    seen, real = [], json.loads
    monkeypatch.setattr("autograder.classroom.board_messages.json.loads", lambda body: (seen.append(1), real(body))[1])
    body = b'{"tries": [' + b"{}," * 100_000 + b"{}]}"
    answers = [board.ask("token-of-large", "tries", "POST", data=body).status_code for _ in range(40)]
    assert set(answers) == {200, 429}
    assert len(seen) < 40


def test_an_account_that_holds_many_connections_keeps_nobody_out(board: Running, monkeypatch) -> None:
    monkeypatch.setattr(board_server, "MOST_OF_AN_ACCOUNT", 3)
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(5)]
        for one in sockets:
            one.settimeout(600)
            one.connect(str(board.socket))
        assert [one.recv(1) for one in sockets[3:]] == [b"", b""]
        assert board.tell(BOB, a_try()).status_code == 200


class Stream:
    """A connection as far as the server has to know it: whose it is, and whether it was turned away."""

    def __init__(self, account: int) -> None:
        self.account, self.closed = account, False

    def close(self) -> None:
        self.closed = True


def test_who_connects_and_hangs_up_without_end_is_turned_away_and_nobody_else(monkeypatch) -> None:
    monkeypatch.setattr(board_server, "account_of", lambda stream: stream.account)
    monkeypatch.setattr(board_server.HTTPServer, "handle_stream", lambda *_: None)
    server = board_server.server_of(Application())
    streams = [Stream(1) for _ in range(1000)]
    for stream in streams:
        server.handle_stream(stream, ())
        server._held.pop(stream, None)  # it has hung up
    assert [stream.closed for stream in streams[:100]] == [False] * 100
    assert sum(stream.closed for stream in streams) > 500
    server.handle_stream(other := Stream(2), ())
    assert not other.closed


def test_ids_without_a_name_are_one_account() -> None:
    assert plain_files.named(os.getuid()) == os.getuid()
    assert plain_files.named(3_000_000_001) == plain_files.named(3_000_000_002)


def test_a_message_waits_for_a_place_where_many_connect(tmp_path, monkeypatch) -> None:
    with contextlib.ExitStack() as held:
        listener = held.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(tmp_path / "socket"))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                one = held.enter_context(socket.socket(socket.AF_UNIX))
                one.setblocking(False)
                one.connect(str(tmp_path / "socket"))
        timer = threading.Timer(0.2, lambda: listener.accept()[0].close())
        timer.start()
        connection = telling.SocketConnection(str(tmp_path / "socket"))
        connection.connect()  # raises where there is no place
        connection.close()
        timer.join()


def hold(board: Running, number: int) -> list[socket.socket]:
    """Open connections over the network, and send nothing through them."""
    place = urlsplit(board.address)
    return [socket.create_connection((place.hostname, place.port), timeout=600) for _ in range(number)]


@pytest.fixture
def crowded(course: Course, tmp_path, monkeypatch) -> Iterator[Running]:
    """A board that has room for eight connections."""
    monkeypatch.setattr(board_server, "MOST", 8)
    with running(course, tmp_path, ["bob"]) as found:
        yield found


def test_who_holds_all_connections_makes_room_for_the_next(crowded: Running) -> None:
    sockets = hold(crowded, 20)
    assert crowded.tell(BOB, a_try()).status_code == 200
    for one in sockets:
        one.close()


@needs_accounts
def test_nobody_else_loses_a_connection_for_it(crowded: Running) -> None:
    with accounts("mallory") as (mallory,):
        (own,) = hold(crowded, 1)
        with acting_as(mallory):
            sockets = hold(crowded, 30)
        path = urlsplit(crowded.address).path
        own.sendall(f"GET {path}tries HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        assert own.recv(100).startswith(b"HTTP/1.1 403")
        for one in (own, *sockets):
            one.close()


@needs_accounts
def test_nobody_stands_in_for_the_board_of_the_page_while_it_is_stopped() -> None:
    host, port = re.search(r'"url": "http://(.*):(\d+)"', documented_files()["jupyterhub_config.py"]).groups()
    with acting_as(Account("nobody", 65534, 65534)), pytest.raises(PermissionError):
        socket.create_server((host, int(port)))


@pytest.mark.parametrize(("port", "told"), [(330, False), (1023, False), (1024, True), (10101, True)])
def test_a_port_that_anybody_can_take_is_in_the_log(tmp_path, monkeypatch, caplog, port: int, told: bool) -> None:
    (setting := tmp_path / "ip_unprivileged_port_start").write_text("1024\n")
    monkeypatch.setattr(board_server, "FIRST_OPEN_PORT", setting)
    board_server.warn_of_open_port(port)
    assert ("Any account of this computer can listen" in caplog.text) is told
    monkeypatch.setattr(board_server, "FIRST_OPEN_PORT", tmp_path / "none")  # macOS
    caplog.clear()
    board_server.warn_of_open_port(port)
    assert bool(caplog.text) is told


def test_headers_without_end_are_refused(board: Running) -> None:
    with contextlib.suppress(requests.ConnectionError):
        assert board.ask(ADA, "tries", headers={"X-Long": "x" * 40_000}).status_code == 431
    assert board.ask(ADA, "tries", headers={"X-Long": "x" * 16_000}).status_code == 200


def test_reading_ones_own_rows_again_and_again_costs_little(board: Running, monkeypatch) -> None:
    read = []
    monkeypatch.setattr(board.service.store, "of_student", lambda student: read.append(student) or [])
    assert {board.ask(BOB, "tries").status_code for _ in range(30)} == {200, 429}
    assert len(read) <= 20


def test_whoever_begins_logins_without_end_ends_nobody_elses(monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.board_login.MOST_KEPT", 10)
    auth, states = an_oauth(), {}
    for n in range(0, 5000, 100):
        verifier, challenge, _ = auth.generate_pkce_code_challenge()
        assert challenge == urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("=")
        states[verifier] = auth.generate_state(f"/services/board/{'x' * n}", code_verifier=verifier, cookie_name=str(n))
        assert verifier not in states[verifier]
    restarted = an_oauth()  # what was begun outlives the process
    assert [restarted.get_code_verifier(state) for state in states.values()] == list(states)
    first, *_, last = states.values()
    assert (restarted.get_next_url(first), restarted.get_next_url(last)) == ("/services/board/", "/")
    assert restarted.get_state_cookie_name(last) == "4900"
    assert len(auth._oauth_states) == 0


def test_a_login_that_somebody_else_has_signed_or_that_is_old_is_none() -> None:
    auth, forged = (
        an_oauth(),
        create_signed_value(b"another's", "state", '{"login": "x", "next_url": "//evil"}').decode(),
    )
    state = auth.generate_state("/services/board/")
    for odd in ("", "é", "2|1:0|", forged, state[:-1]):
        assert (auth.get_next_url(odd), auth.get_code_verifier(odd)) == ("/", None)
    auth.oauth_state_max_age = -1
    assert auth.get_code_verifier(state) is None


def an_oauth() -> BoundedOAuth:
    return BoundedOAuth(api_token="t", base_url="/", hub_host="", hub_prefix="/hub/", oauth_client_id="service-board")


def test_of_the_hubs_answers_the_latest_are_kept_under_short_names(monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.board_login.MOST_KEPT", 10)
    auth = an_oauth()
    for number in range(100):
        auth.cache[f"token::{number}"] = None
    assert list(auth.cache.values) == [f"token::{number}" for number in range(90, 100)]
    for name, kept_name in (("a" * 32, "a" * 32), ("a" * 8000, "")):
        assert auth.get_session_id(SimpleNamespace(get_cookie=lambda *_, name=name: name)) == kept_name


@pytest.mark.parametrize("token", ["a\nb", "a\x00b", "a b", "é", "", "a" * 8000])
def test_what_is_no_token_never_reaches_the_hub(token: str) -> None:
    asked = SimpleNamespace(headers={"Sec-Fetch-Mode": "websocket"})
    handler = SimpleNamespace(request=asked, get_argument=lambda *_: token)
    assert an_oauth().get_token(handler, in_cookie=False) is None


def test_a_body_is_not_read_before_its_sender_is_known(board: Running) -> None:
    place = urlsplit(board.address)
    with socket.create_connection((place.hostname, place.port), timeout=600) as one:
        one.sendall(f"POST {place.path}tries HTTP/1.1\r\nHost: h\r\nContent-Length: 400000\r\n\r\n{{".encode())
        assert one.recv(100).startswith(b"HTTP/1.1 403")


def half_a_message(board: Running, token: str) -> socket.socket:
    """Begin to tell something, and do not go on."""
    place = urlsplit(board.address)
    one = socket.create_connection((place.hostname, place.port), timeout=600)
    head = f"POST {place.path}tries HTTP/1.1\r\nHost: h\r\nAuthorization: token {token}\r\n"
    one.sendall(f"{head}Content-Length: 9\r\n\r\n{{".encode())
    return one


def test_a_student_has_a_few_requests_under_way_and_others_are_answered(board: Running) -> None:
    with contextlib.ExitStack() as held:
        for number in range(1, 5):
            held.enter_context(half_a_message(board, ADA))
            wait_until(lambda number=number: board.service.under_way["ada"] == number)
        assert board.tell(ADA, a_try()).status_code == 429
        assert board.tell(BOB, a_try()).status_code == 200
    wait_until(lambda: not board.service.under_way)
    assert board.tell(ADA, a_try()).status_code == 200
    wait_until(lambda: not board.service.under_way)


def test_a_body_that_is_not_complete_after_seconds_ends_its_connection() -> None:
    assert board_server.server_of(Application()).conn_params.body_timeout <= 5


def test_a_body_in_pieces_is_refused(board: Running) -> None:
    pieces = (json.dumps({"tries": [a_try()]}).encode()[i : i + 2] for i in range(0, 1000, 2))
    assert board.ask(ADA, "tries", "POST", data=filter(None, pieces)).status_code == 411
    assert kept(board) == []


@pytest.mark.parametrize("times", [(1, 2, 3), (3, 2, 1), (2, 2, 2)])
def test_of_an_exercise_one_code_is_kept(board: Running, times: tuple[int, ...]) -> None:
    begin = time.time() - 100
    board.tell(ADA, *(a_try(n, code=f"code {n}", time=begin + when) for n, when in enumerate(times)))
    assert len([row for row in kept(board) if row["code"]]) == 1


def live(board: Running) -> Iterator[dict[str, Any]]:
    with board.ask(TEACHER, f"events?lesson={LESSON}", stream=True) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        for line in answer.iter_lines(decode_unicode=True):
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))


def test_who_shares_code_no_longer_is_no_example_any_more(board: Running, monkeypatch) -> None:
    monkeypatch.setattr("autograder.classroom.board.RECKON_EVERY", 1e9)
    board.tell(ADA, a_try(1, message="what_is_there", code="def attend(): ..."))
    board.tell(BOB, a_try(2, message="what_is_there", code="def bobs(): ..."))
    assert "def bobs" in json.dumps(next(live(board)))
    assert board.ask(BOB, "tries", "DELETE").status_code == 200
    assert "def bobs" not in json.dumps(next(live(board)))
    assert ([one["code"] for one in kept(board)], len(kept(board, BOB))) == (["def attend(): ..."], 1)


def test_the_page_follows_what_students_tell(board: Running) -> None:
    states = live(board)
    assert all("stuck" not in one["states"] for one in next(states)["students"])
    board.tell(ADA, *(a_try(n) for n in range(3)))
    board.tell(BOB, a_try(7, message="what_is_there", code="def attend(): ..."))
    state = next(one for one in states if len(one["students"]) == 2)
    column = state["exercises"].index("attend")
    assert {one["name"]: one["states"][column] for one in state["students"]} == {"ada": "stuck", "bob": "working"}
    named, unnamed = sorted(state["messages"]["attend"], key=lambda seen: seen["id"])
    assert OVER_QUERIES in named["told"]
    assert "example" not in named
    assert (unnamed["example"], unnamed["author"]) == ("def attend(): ...", "bob")
    board.tell(ADA, a_try(9, passed=True))
    state = next(states)
    assert [one["states"][column] for one in state["students"]] == ["passed", "working"]
    assert [seen["students"] for seen in state["messages"]["attend"]] == [["bob"]]


def away(*_: object) -> None:
    raise CourseError("The gradebook cannot be used.")


def test_while_the_database_is_away_students_are_told_to_wait_and_no_page_follows(board: Running, monkeypatch) -> None:
    states = live(board)
    next(states)
    with monkeypatch.context() as patch:
        patch.setattr(board.service.store, "add", away)
        patch.setattr(board.service.store, "done", away)
        board.service._latest.clear()
        assert board.tell(ADA, a_try()).status_code == 503
        with board.ask(TEACHER, f"events?lesson={LESSON}", stream=True) as answer:
            assert answer.status_code == 503
        assert list(states) == []
    board.tell(ADA, a_try())
    assert [one["name"] for one in next(live(board))["students"]] == ["ada"]


def test_who_tells_in_vain_while_the_database_is_away_has_as_much_left_afterward(board: Running, monkeypatch) -> None:
    tries = [a_try(number) for number in range(TRIES_OF_A_REQUEST)]
    with monkeypatch.context() as patched:
        patched.setattr(board.service.store, "add", away)
        for _ in range(2 * int(ALLOWANCE) // TRIES_OF_A_REQUEST):
            assert board.tell(ADA, *tries).status_code == 503
    assert board.tell(ADA, *tries).json()["kept"] == TRIES_OF_A_REQUEST


def test_the_page_knows_exercises_by_number_and_when_a_lesson_is_due_now(scratch: Course) -> None:
    store = BoardStore(load_config(scratch.root).CourseDirectory.db_url)
    TRIES.metadata.create_all(store._engine)
    service = BoardService(store, scratch)
    assert "2.3 attend" in json.loads(service.state(LESSON, time.time()))["titles"]

    def due() -> str:
        return next(one["due"] for one in service.lessons() if one["name"] == LESSON)

    assert due() == ""
    register(scratch, scratch.lesson(LESSON))
    with open_gradebook(scratch) as gradebook:
        gradebook.update_or_create_assignment(LESSON, duedate="2026-11-30 23:59")
    assert due() == "due Mon 30 Nov 2026, 23:59 UTC"
    configure(scratch, "c.HandIn.due = '2026-12-01 12:00'\n")
    assert due() == "due Tue 1 Dec 2026, 12:00 UTC"
    configure(scratch, "c.HandIn.due = (\n")
    assert due() == ""


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader 0.9.6 adds to sessions late
def test_the_page_knows_when_work_arrived_and_whose_is_due_at_another_time(scratch: Course) -> None:
    service = BoardService(BoardStore.of(scratch), scratch)
    assert service.handed_in(LESSON, 2e9) == {}  # there is no gradebook yet
    register(scratch, scratch.lesson(LESSON))
    with open_gradebook(scratch) as gradebook:
        for name, minute in (("ada", 0), ("bob", 30)):
            gradebook.add_student(name)
            gradebook.add_submission(LESSON, name, timestamp=datetime(2026, 11, 30, 12, minute))
    configure(scratch, "c.HandIn.time_zone = 'Europe/Berlin'\nc.HandIn.extensions = {'bob': '2026-12-02 12:00'}\n")
    bobs = "due Wed 2 Dec 2026, 12:00 CET"
    before = datetime(2026, 11, 30, 12, 15, tzinfo=UTC).timestamp()
    assert service.handed_in(LESSON, before) == {"ada": "Mon 30 Nov 2026, 13:00 CET", "bob": bobs}
    state = json.loads(service.state(LESSON, 2e9))
    assert [one["handed_in"] for one in state["students"]][1] == f"Mon 30 Nov 2026, 13:30 CET, {bobs}"


def test_a_lesson_that_is_built_anew_is_known_at_once(scratch: Course) -> None:
    before = Catalog.of(scratch)
    assert Catalog.of(scratch) is before
    path = scratch.lesson(LESSON).fingerprints_json
    path.write_text(path.read_text().replace('"project_qkv"', '"project"'))
    os.utime(path, (2e9, 2e9))
    assert Catalog.of(scratch).exercises(LESSON)[0] == "project"


def test_a_past_hour_shows_what_was_seen_in_it(board: Running) -> None:
    hour = time.time() - 86_400
    board.tell(ADA, a_try(1, time=hour + 60), a_try(2, time=hour + 120, passed=True), a_try(3, exercise="project_qkv"))
    state = board.ask(TEACHER, f"past?lesson={LESSON}&from={hour}").json()
    (seen,) = state["messages"]["attend"]
    assert (seen["students"], state["messages"]["project_qkv"]) == (["ada"], [])
    assert board.ask(TEACHER, f"past?lesson={LESSON}&from=x").status_code == 400
    assert board.ask(TEACHER, "past?lesson=99_no_such&from=0").status_code == 404


def test_without_a_hub_the_command_says_where_the_lines_are(course: Course, monkeypatch, capsys) -> None:
    monkeypatch.chdir(course.root)
    assert main(["board"]) == 2
    assert "docs/hub.md has the lines" in capsys.readouterr().err


def luminance(color: str) -> float:
    """Return what WCAG calls the relative luminance of a color such as #16181c or #fff."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("name", ["line", "stuck", "bar"])
def test_what_a_bar_is_made_of_is_seen_from_the_back_of_a_room(name: str, scheme: int) -> None:
    style = (PAGES / "board.css").read_text()
    colors = [re.findall(rf"--{part}: (#\w+)", style)[scheme] for part in (name, "back")]
    dark, light = sorted(map(luminance, colors))
    assert (light + 0.05) / (dark + 0.05) >= 3  # WCAG 2.2, 1.4.11
    assert ".bar .passed { fill: var(--bar); }" in style
