"""A board beside a hub that knows a few tokens: for tests of the board and for its benchmark."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets, bind_unix_socket
from tornado.web import Application, RequestHandler

from autograder.classroom.board import BoardService, application
from autograder.classroom.board_login import BoundedOAuth
from autograder.classroom.board_server import server_of as bounded
from autograder.classroom.board_store import TRIES, BoardStore
from autograder.paths import Course

PREFIX = "/services/board/"
TEACHER = "token-of-teacher"


def user(name: str, *scopes: str, kind: str = "user") -> dict[str, Any]:
    """A model as the hub gives one for a token."""
    return {"kind": kind, "name": name, "scopes": list(scopes), "groups": [], "admin": False}


def server_of(name: str) -> dict[str, Any]:
    """The model for the token that a student's own server has."""
    return user(name, f"users:activity!user={name}", f"access:servers!server={name}/")


class Who(RequestHandler):
    """The hub's answer to whose token something is."""

    def get(self) -> None:
        token = self.request.headers["Authorization"].split()[-1]
        if token not in self.settings["tokens"]:
            self.send_error(403)
        else:
            self.finish(self.settings["tokens"][token])


@dataclass
class Running:
    """A board that answers.

    Args:
        address: its own, below which its pages are.
        socket: where students' checks reach it.
        service: what its requests share.
    """

    address: str
    socket: Path
    service: BoardService

    def ask(self, token: str = "", path: str = "", method: str = "GET", **details: Any) -> requests.Response:
        headers = {"Authorization": f"token {token}"} if token else {}
        headers.update(details.pop("headers", {}))
        return requests.request(method, self.address + path, headers=headers, allow_redirects=False, **details)

    def tell(self, token: str, *tries: Mapping[str, Any]) -> requests.Response:
        return self.ask(token, "tries", "POST", data=json.dumps({"tries": tries}))


@contextmanager
def running(course: Course, folder: Path, students: list[str]) -> Iterator[Running]:
    """Run a board on a course's lessons, with a database of its own; a student's token is `token-of-<name>`."""
    store = BoardStore(f"sqlite:///{folder}/board.db")
    TRIES.metadata.create_all(store._engine)
    tokens = {f"token-of-{name}": server_of(name) for name in students}
    tokens[TEACHER] = user("teacher", "access:services!service=board")
    tokens["token-for-another-service"] = user("ada", "access:services!service=other")
    tokens["token-of-a-service"] = user("ada", "access:servers", kind="service")
    loop, started, ports = asyncio.new_event_loop(), threading.Event(), []
    service = BoardService(store, course)

    async def listen() -> None:
        hub, page = bind_sockets(0, "127.0.0.1"), bind_sockets(0, "127.0.0.1")
        HTTPServer(Application([("/hub/api/user", Who)], tokens=tokens)).add_sockets(hub)
        auth = BoundedOAuth(
            api_url=f"http://127.0.0.1:{hub[0].getsockname()[1]}/hub/api",
            api_token="the-service's-own",
            base_url=PREFIX,
            hub_host="",
            hub_prefix="/hub/",
            oauth_client_id="service-board",
            oauth_redirect_uri=f"{PREFIX}oauth_callback",
            access_scopes={"access:services", "access:services!service=board"},
        )
        server = bounded(application(service, auth, PREFIX))
        server.add_sockets(page)
        server.add_socket(bind_unix_socket(str(folder / "socket"), mode=0o666))
        ports.append(page[0].getsockname()[1])
        started.set()

    thread = threading.Thread(target=run, args=(loop, listen()), daemon=True)
    thread.start()
    started.wait()
    try:
        yield Running(f"http://127.0.0.1:{ports[0]}{PREFIX}", folder / "socket", service)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def run(loop: asyncio.AbstractEventLoop, first: Any) -> None:
    asyncio.set_event_loop(loop)
    loop.create_task(first)
    loop.run_forever()
