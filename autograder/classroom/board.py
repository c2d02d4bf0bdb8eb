"""The class at a glance: a service of a JupyterHub that students' checks report to, with a page for teachers.

Teachers are whoever may use the service, by the hub's own rights. A student's message carries the token of that
student's own server, so that nobody writes as another, and nobody reads what another has sent.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from jupyterhub.services.auth import HubOAuth, HubOAuthCallbackHandler, HubOAuthenticated
from jupyterhub.utils import url_path_join
from tornado.escape import xhtml_escape
from tornado.iostream import StreamClosedError
from tornado.web import (
    Application,
    HTTPError,
    RequestHandler,
    authenticated,
    stream_request_body,
)

from ..errors import CourseError
from ..paths import Course
from .board_login import BoundedOAuth
from .board_messages import OWN_ROWS_COST, Allowance, Catalog, reading_costs, told_in
from .board_server import MOST_BODY_BYTES, listen
from .board_state import board_of
from .board_store import LOOK_BACK, BoardStore
from .rules import Rules, rules_by_lesson
from .service_log import service_handler

LOG = logging.getLogger("autograder.board")
PAGES = Path(__file__).parent / "pages"
FILES = {
    "": ("board.html", "text/html"),
    "board.js": ("board.js", "text/javascript"),
    "board.css": ("board.css", "text/css"),
}
SOCKET, ADDRESS, PREFIX = "LESSONS_BOARD", "JUPYTERHUB_SERVICE_URL", "JUPYTERHUB_SERVICE_PREFIX"
LOOK_EVERY = 0.5  # seconds between two looks at what has changed
RECKON_EVERY = 15  # seconds after which a state can have changed though nothing came
LONGEST_STREAM = 600.0  # seconds; then the browser connects anew, and its rights are looked up again
MOST_STREAMS = 50
MOST_UNDER_WAY = 4  # requests of one student: the student's side sends one after another
HOUR = 3600.0
GUARD = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class BoardService:
    """What all requests share: the table, the lessons' words, and each lesson's latest state."""

    def __init__(self, store: BoardStore, course: Course) -> None:
        self.store, self._course = store, course
        self.allowance = Allowance()
        self.streams, self.under_way = 0, Counter[str]()
        self._database = ThreadPoolExecutor(1)  # one after another: nobody holds a lock that another waits for
        self._versions: dict[str, int] = {}
        self._latest: dict[str, tuple[tuple[int, int], str]] = {}
        self._reckoning: dict[str, asyncio.Lock] = {}

    @property
    def catalog(self) -> Catalog:
        """The lessons with their exercises and messages."""
        return Catalog.of(self._course)

    async def run(self, work: Callable[[], Any]) -> Any:
        """Do what waits for the database beside the event loop.

        Raises:
            HTTPError: 503 where the database cannot be used; who asked may ask again.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._database, work)
        except CourseError as error:
            LOG.error("%s", error)
            raise HTTPError(503) from error

    async def keep(self, student: str, body: bytes) -> dict[str, int]:
        """Keep what a student's checks have told; return how much of it was kept, and how much was nonsense."""
        if not self.allowance.spend(student, reading_costs(body)):
            raise HTTPError(429)
        told, refused = told_in(body, student, self.catalog, time.time())
        if not self.allowance.spend(student, len(told) + refused):
            raise HTTPError(429)
        try:
            await self.run(partial(self.store.add, told))
        except HTTPError:  # while the database is away, the same tries come again and again
            self.allowance.spend(student, -len(told))
            raise
        for lesson in {one.lesson for one in told}:
            self._versions[lesson] = self._versions.get(lesson, 0) + 1
        return {"kept": len(told), "refused": refused}

    async def withdraw_code(self, student: str) -> None:
        """Delete a student's code, also from what is shown."""
        await self.run(partial(self.store.withdraw_code, student))
        self._latest.clear()

    async def live(self, lesson: str) -> str:
        """Return a lesson's state now, as JSON; made at most once for all who watch, as long as nothing happens."""
        async with self._reckoning.setdefault(lesson, asyncio.Lock()):
            version = (self._versions.get(lesson, 0), int(time.time()) // RECKON_EVERY)
            if self._latest.get(lesson, ((), ""))[0] != version:
                self._latest[lesson] = (version, await self.run(partial(self.state, lesson, time.time())))
            return self._latest[lesson][1]

    def state(self, lesson: str, now: float, since: float | None = None) -> str:
        """Return a lesson's state at a moment as JSON, with all messages since another moment where one is given."""
        tries = self.store.tries(lesson, now - LOOK_BACK, now)
        board = board_of(self.store.done(lesson, now), tries, now, since)
        catalog = self.catalog
        exercises = catalog.exercises(lesson)
        students, handed_in = sorted({*self.store.students(), *board.states}), self.handed_in(lesson, now)
        states = {name: board.states.get(name, {}) for name in students}
        return json.dumps(
            {
                "exercises": exercises,
                "titles": catalog.columns(lesson),
                "students": [
                    {"name": n, "states": [own.get(e, "") for e in exercises], "handed_in": handed_in.get(n, "")}
                    for n, own in states.items()
                ],
                "messages": {e: [self.shown(lesson, e, seen) for seen in board.messages.get(e, ())] for e in exercises},
            }
        )

    def handed_in(self, lesson: str, now: float) -> dict[str, str]:
        """Return when students' work had arrived by a moment, and when it is due for who has an extension."""
        rules = self.rules([lesson]).get(lesson)
        if rules is None:
            return {}
        words = {name: [rules.shown(when)] for name, when in self.store.handed_in(lesson, now).items()}
        for name, when in rules.extensions.items():
            words.setdefault(name, []).append(f"due {rules.shown(when)}")
        return {name: ", ".join(own) for name, own in words.items()}

    def rules(self, lessons: Collection[str]) -> dict[str, Rules]:
        """Return lessons' rules as the configuration says now; none while somebody edits it: the class is shown."""
        try:
            return rules_by_lesson(self._course, lessons)
        except CourseError as error:
            LOG.error("%s", error)
            return {}

    def lessons(self) -> list[dict[str, str]]:
        """Return each lesson's name and title in order, and when it is due, as the configuration says now."""
        lessons = self.catalog.lessons
        rules = self.rules(lessons)
        due = {name: rules[name].due_in_words() if name in rules else "" for name in lessons}
        return [{"name": name, "title": str(lessons[name]["title"]), "due": due[name]} for name in lessons]

    def shown(self, lesson: str, exercise: str, seen: Any) -> dict[str, Any]:
        """Return a message as the page shows it; an example only where no author has named the answer."""
        told, named = self.catalog.words(lesson, exercise, seen.message)
        example = {} if named or not seen.example else {"example": seen.example, "author": seen.author}
        return {"id": seen.message, "told": told, "students": sorted(seen.students), **example}


class Handler(RequestHandler):
    """What every answer has in common: it may not be framed, kept, or run anything from elsewhere."""

    def initialize(self, service: BoardService, auth: HubOAuth) -> None:
        """Take what all requests share."""
        self.service, self.hub_auth = service, auth

    def set_default_headers(self) -> None:
        """Forbid what no page of ours needs."""
        self.set_header("Content-Security-Policy", GUARD)
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")


class Login(HubOAuthCallbackHandler):  # type: ignore[misc]
    """Where the hub sends a browser back to."""

    async def prepare(self) -> None:
        """Ask the hub who it is while others are served, as the pages do."""
        await self.hub_auth.get_user(self, sync=False)


class TeachersHandler(HubOAuthenticated, Handler):  # type: ignore[misc]
    """Requests of a browser whose user may use the service."""

    async def prepare(self) -> None:
        """Ask the hub who it is while others are served; what asks again gets the same answer."""
        await self.hub_auth.get_user(self, sync=False)

    def lesson(self) -> str:
        """Return the lesson that is asked for."""
        name = self.get_query_argument("lesson")
        if name not in self.service.catalog:
            raise HTTPError(404)
        return name


class Page(TeachersHandler):
    """The page and the two files that it loads."""

    @authenticated
    def get(self, name: str = "") -> None:
        """Return a file; in the page, the token without which a browser's further requests are not its own."""
        file, kind = FILES[name]
        self.set_header("Content-Type", f"{kind}; charset=utf-8")
        text = (PAGES / file).read_text(encoding="utf-8")
        self.finish(text if name else text.replace("{{ xsrf }}", xhtml_escape(self.xsrf_token)))


class DataHandler(TeachersHandler):
    """Requests of the page itself: whoever is not logged in is told so, and not sent to log in."""

    def get_login_url(self) -> str:
        """Refuse."""
        raise HTTPError(403)


class Lessons(DataHandler):
    """The list of lessons."""

    @authenticated
    async def get(self) -> None:
        """Return each lesson's name, title and due date, in order."""
        self.finish({"lessons": await self.service.run(self.service.lessons)})


class Past(DataHandler):
    """A lesson in a past hour."""

    @authenticated
    async def get(self) -> None:
        """Return the states at the hour's end, and the messages that were seen in it."""
        try:
            begins = float(self.get_query_argument("from"))
        except ValueError:
            raise HTTPError(400) from None
        text = await self.service.run(partial(self.service.state, self.lesson(), begins + HOUR, begins))
        self.set_header("Content-Type", "application/json")
        self.finish(text)


class Events(DataHandler):
    """A lesson as it is now, as server-sent events."""

    closed = False

    def on_connection_close(self) -> None:
        """Remember that nobody listens any more."""
        self.closed = True

    @authenticated
    async def get(self) -> None:
        """Send the lesson's state whenever it has changed."""
        lesson, ends = self.lesson(), time.monotonic() + LONGEST_STREAM
        if self.service.streams >= MOST_STREAMS:
            raise HTTPError(503)
        self.set_header("Content-Type", "text/event-stream")
        self.service.streams += 1
        try:
            await self.stream(lesson, ends)
        except StreamClosedError:
            return
        finally:
            self.service.streams -= 1

    async def stream(self, lesson: str, ends: float) -> None:
        """Send until a moment has come or nobody listens."""
        before, spoke = "", 0.0
        while time.monotonic() < ends and not self.closed:
            text = await self.service.live(lesson)  # while the database is away, the page is told that nobody answers
            if text != before or time.monotonic() - spoke > RECKON_EVERY:
                self.write(f"data: {text}\n\n" if text != before else ": still here\n\n")
                await self.flush()
                before, spoke = text, time.monotonic()
            await asyncio.sleep(LOOK_EVERY)


@stream_request_body
class Mine(Handler):
    """What one student's checks have told: written and read with the token of the student's own server."""

    student, counts = "", False  # whose it is, and whether it is one of those under way

    async def prepare(self) -> None:
        """Find out who asks, before a body is read. Cookies do not count, so no page can ask in somebody's name."""
        self.told = bytearray()
        if "Transfer-Encoding" in self.request.headers:  # pieces of two bytes each take a hundred times as long
            raise HTTPError(411)
        token = self.hub_auth.get_token(self, in_cookie=False)
        user = await self.hub_auth.user_for_token(token, sync=False) if token else None
        if user is None or not opens_own_server(user):
            raise HTTPError(403)
        if self.service.under_way[str(user["name"])] >= MOST_UNDER_WAY:
            raise HTTPError(429)
        self.student = str(user["name"])
        self.counts = True
        self.service.under_way[self.student] += 1
        connection: Any = self.request.connection
        connection.set_max_body_size(MOST_BODY_BYTES)

    def on_finish(self) -> None:
        """Count it no more."""
        if self.counts:
            self.counts = False
            self.service.under_way -= Counter([self.student])

    def on_connection_close(self) -> None:
        """Count what its sender has given up no more."""
        super().on_connection_close()
        self.on_finish()

    def data_received(self, chunk: bytes) -> None:
        """Take a piece of the body."""
        self.told += chunk

    async def post(self) -> None:
        """Keep tries."""
        self.finish(await self.service.keep(self.student, bytes(self.told)))

    async def get(self) -> None:
        """Return the latest of what is kept about whoever asks."""
        if not self.service.allowance.spend(self.student, OWN_ROWS_COST):
            raise HTTPError(429)
        rows = await self.service.run(partial(self.service.store.of_student, self.student))
        self.finish({"student": self.student, "tries": rows})

    async def delete(self) -> None:
        """Delete the code of whoever asks."""
        if not self.service.allowance.spend(self.student, 1):
            raise HTTPError(429)
        await self.service.withdraw_code(self.student)


def opens_own_server(user: Mapping[str, Any]) -> bool:
    """Say whether a token opens its owner's server: one that was given to another service does not."""
    name, scopes = user["name"], user.get("scopes", ())
    whole = {"access:servers", f"access:servers!user={name}"}
    opens_it = any(scope in whole or scope.startswith(f"access:servers!server={name}/") for scope in scopes)
    return user.get("kind") == "user" and opens_it


def application(service: BoardService, auth: BoundedOAuth, prefix: str) -> Application:
    """Return the service's pages, below a prefix; students' messages also go to `/tries`, as through a socket."""
    shared = {"service": service, "auth": auth}
    pages = {"lessons": Lessons, "past": Past, "events": Events, "tries": Mine}
    return Application(
        [
            (url_path_join(prefix, "oauth_callback"), Login),
            *((url_path_join(prefix, name), handler, shared) for name, handler in pages.items()),
            (url_path_join(prefix, "(board.js|board.css|)"), Page, shared),
            ("/tries", Mine, shared),
        ],
        cookie_secret=auth.secret,
        log_function=log_failures,
    )


def log_failures(handler: RequestHandler) -> None:
    """Log what is this service's fault, and nothing that a flood of requests could fill a disk with."""
    if handler.get_status() >= 500 and handler.get_status() != 503:
        LOG.error("%d %s", handler.get_status(), handler.request.path)


def serve_board(course: Course) -> None:
    """Run the service until it is ended.

    Raises:
        CourseError: no JupyterHub has started this process, or the database cannot be used.
    """
    address, prefix, socket = (os.environ.get(name, "") for name in (ADDRESS, PREFIX, SOCKET))
    if not address or not prefix:
        raise CourseError(
            "`lessons board` is started by a JupyterHub; docs/hub.md has the lines for its configuration."
        )
    for name in ("tornado.application", "tornado.general"):  # each request can warn, and a flood would fill a disk
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.root.addHandler(service_handler())
    service = BoardService(BoardStore.of(course), course)
    asyncio.run(listen(application(service, BoundedOAuth.instance(), prefix), address, socket))
