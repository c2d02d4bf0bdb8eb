"""What the hub's tests share: a hub on loopback, set up from the files in docs/hub.md, and its users over REST."""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import requests
import websocket

from .accounts import Account
from .browser import end
from .waiting import free_port

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "hub.md"
FILE = re.compile(r"`([^`\n]+)`:\n\n```\w+\n(.*?)```", re.S)
FOLDER = re.compile(r"^install -d .*$", re.M)
PROXY = shutil.which("configurable-http-proxy", path=f"{ROOT}/build/hub/node_modules/.bin:{os.environ['PATH']}")
BOARD_ADDRESS, RESERVED_PORTS = "127.0.0.1:330", range(300, 512)
ASSISTANT = "tina"  # who grades on the teacher's server, and has none
START_SECONDS = ANSWER_SECONDS = 600
missing = " and ".join(
    name for name, there in (("jupyterhub", find_spec("jupyterhub")), ("its proxy", PROXY)) if not there
)
needs_hub = pytest.mark.skipif(bool(missing), reason=f"needs {missing}: `make test-hub` installs both")


def documented_files() -> dict[str, str]:
    """Return every file that docs/hub.md shows, by the path that it gives; what it adds to a file later is added."""
    files: dict[str, str] = {}
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        files[name] = files.get(name, "") + text
    return files


def documented_folders() -> list[str]:
    """Return the commands by which docs/hub.md makes the exchange and the board's folder."""
    return FOLDER.findall(PAGE.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Places:
    """Where a test has what docs/hub.md has under fixed paths, and whose accounts its people have."""

    root: Path
    people: dict[str, Account]

    @property
    def environment(self) -> Path:
        return self.root / "environment"

    @property
    def exchange(self) -> Path:
        return self.root / "exchange"

    @property
    def log(self) -> Path:
        return self.root / "hub.log"

    def home(self, user: str) -> Path:
        return self.root / "home" / self.people[user].name

    @property
    def moved(self) -> dict[str, str]:
        """Where everything is that docs/hub.md has somewhere else. The sandbox needs an environment that is whole."""
        settings = {"JUPYTER_CONFIG_PATH": f"{self.environment}/etc/jupyter"}
        return {
            '"name": "grade-at-hand-in",': f'"name": "grade-at-hand-in", "environment": {settings},',
            "/opt/attention/bin/python": sys.executable,
            "/opt/attention": str(self.environment),
            "/srv/nbgrader/exchange": str(self.exchange),
            "/srv/nbgrader/board": str(self.root / "board"),
            "/home/<teacher>": str(self.home("teacher")),
            "<teacher>": self.people["teacher"].name,
            "<teacher's group>": str(self.people["teacher"].gid),
            "<assistant>": ASSISTANT,
            BOARD_ADDRESS: f"127.0.0.1:{free_port(RESERVED_PORTS)}",
        }

    def translate(self, text: str, user: str = "") -> str:
        for documented, here in self.moved.items():
            text = text.replace(documented, here)
        return re.sub(r"^~", str(self.home(user)), text) if user else text


def install(places: Places, wheel: Path) -> None:
    """Make the environment of the users' servers: the wheel, and beside it the libraries that the tests use."""
    environment = places.environment
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    own = Path(next(environment.glob("lib/python*/site-packages")))
    (own / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    python = ["--python", str(environment / "bin" / "python")]
    options = ["--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *python, "install", *options], check=True)
    for part in ("share", "etc"):
        shutil.copytree(Path(sys.prefix) / part / "jupyter", environment / part / "jupyter", symlinks=True)


def configure(places: Places) -> str:
    """Write the files of docs/hub.md; return what it adds to the hub's configuration."""
    for command in documented_folders():
        subprocess.run(places.translate(command).split(), check=True)
    files = documented_files()
    hub = places.translate(files.pop("jupyterhub_config.py"))
    for name, text in files.items():
        path = Path(places.translate(name, "teacher"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(places.translate(text), encoding="utf-8")
    subprocess.run(["chown", "-Rh", places.people["teacher"].name, str(places.home("teacher"))], check=True)
    return hub


@dataclass(frozen=True)
class User:
    """Somebody who is logged in, and their server's address."""

    name: str
    address: str
    token: str

    @property
    def hub(self) -> str:
        """The hub's address."""
        return self.address.partition("/user/")[0]

    def ask(self, method: str, path: str, **details: object) -> requests.Response:
        """Ask the user's server for something, and insist on getting it."""
        answer = self.request(method, path, **details)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer

    def request(self, method: str, path: str, **details: object) -> requests.Response:
        headers = {"Authorization": f"token {self.token}"}
        return requests.request(method, self.address + path, headers=headers, timeout=ANSWER_SECONDS, **details)

    def run(self, notebook: str, cells: Sequence[str]) -> list[str]:
        """Run code in the kernel of a notebook; return what each cell shows, as text."""
        kind = {"type": "notebook", "name": "", "kernel": {"name": "python3"}}
        session = self.ask("POST", "api/sessions", json={"path": notebook, **kind}).json()
        channels = f"ws{self.address.removeprefix('http')}api/kernels/{session['kernel']['id']}/channels"
        kernel = websocket.create_connection(channels, ANSWER_SECONDS, header=[f"Authorization: token {self.token}"])
        try:
            return [shown(kernel, code) for code in cells]
        finally:
            kernel.close()
            self.ask("DELETE", f"api/sessions/{session['id']}")


def shown(kernel: websocket.WebSocket, code: str) -> str:
    """Run one cell; return the text of its outputs and of its error."""
    request, texts = uuid.uuid4().hex, []
    header = {"msg_id": request, "msg_type": "execute_request", "username": "", "session": request, "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    kernel.send(json.dumps(message))
    while True:
        answer = json.loads(kernel.recv())
        if answer["parent_header"].get("msg_id") != request:
            continue
        said = answer["content"]
        if said.get("execution_state") == "idle":
            return "\n".join(texts)
        texts += filter(None, [said.get("text"), said.get("data", {}).get("text/plain"), said.get("evalue")])


def showing(*folders: Path) -> list[str]:
    """Return what to put before a command, so that accounts which it runs reach folders that lie in closed ones.

    Nothing else in those is shown to it.
    """
    shown: dict[Path, list[Path]] = {}
    for folder in folders:
        if closed := [path for path in folder.parents if not path.stat().st_mode & 0o001]:
            shown.setdefault(closed[-1], []).append(folder)
    options = list[str]()
    for outermost, inside in shown.items():
        options += ["--perms", "0755", "--tmpfs", str(outermost)]
        for folder in inside:
            above = [path for path in reversed(folder.parents) if outermost in path.parents]
            options += [part for path in above for part in ("--dir", str(path))]
            options += ["--ro-bind", str(folder), str(folder)]
    return ["bwrap", "--cap-add", "ALL", "--die-with-parent", "--dev-bind", "/", "/", *options, "--"] if options else []


@contextmanager
def running(places: Places, settings: str) -> Iterator[dict[str, User]]:
    """Run a hub with its proxy, and the server of each of its people; yield them as users."""
    port, token = free_port(), secrets.token_hex(16)
    config = places.root / "jupyterhub_config.py"
    config.write_text(settings + made_up_settings(places, port, token), encoding="utf-8")
    log = places.log.open("w")
    needed = showing(Path(sys.base_prefix), Path(sys.prefix), ROOT / "autograder", Path(PROXY).parents[1])
    command = [*needed, sys.executable, "-m", "jupyterhub", "-f", str(config)]
    hub = subprocess.Popen(command, cwd=places.root, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: requests.get(f"http://127.0.0.1:{port}/hub/api", timeout=5).ok, hub)
        users = log_in(f"http://127.0.0.1:{port}", {"Authorization": f"token {token}"}, places.people, hub)
    except (AssertionError, requests.RequestException):
        print(places.log.read_text()[-5_000:])  # which pytest shows
        raise
    else:
        yield users
    finally:
        end(hub)
        with contextlib.suppress(OSError):  # a hub that could not start leaves its proxy behind
            os.kill(int((places.root / "jupyterhub-proxy.pid").read_text()), signal.SIGTERM)
        log.close()


def made_up_settings(places: Places, port: int, token: str) -> str:
    """Return what a hub needs where everybody is made up: no passwords."""
    scopes = ["admin:users", "admin:servers", "tokens"]
    settings = {
        "JupyterHub.subdomain_host": "",  # loopback has no names for users
        "JupyterHub.bind_url": f"http://127.0.0.1:{port}",
        "JupyterHub.hub_port": free_port(),
        "JupyterHub.db_url": "sqlite:///:memory:",
        "JupyterHub.cookie_secret_file": str(places.root / "cookie_secret"),
        "JupyterHub.authenticator_class": "dummy",
        "Authenticator.allowed_users": {*(account.name for account in places.people.values()), ASSISTANT},
        "Spawner.start_timeout": START_SECONDS,
        "Spawner.http_timeout": START_SECONDS,
        "ConfigurableHTTPProxy.command": [PROXY],
        "ConfigurableHTTPProxy.api_url": f"http://127.0.0.1:{free_port()}",
    }
    added = {
        "services": {"name": "test", "api_token": token},
        "load_roles": {"name": "test", "services": ["test"], "scopes": scopes},
    }
    lines = [f"c.{name} = {value!r}\n" for name, value in settings.items()]
    return "".join([*lines, *(f"c.JupyterHub.{name}.append({value!r})\n" for name, value in added.items())])


def token_of(address: str, headers: dict[str, str], name: str) -> str:
    """Return a new token of somebody's."""
    answer = requests.post(f"{address}/hub/api/users/{name}/tokens", headers=headers, timeout=ANSWER_SECONDS)
    return str(answer.json()["token"])


def log_in(address: str, headers: dict[str, str], people: dict[str, Account], hub: subprocess.Popen) -> dict[str, User]:
    """Start everybody's server; return the users once all servers answer."""
    users = {}
    for who, name in ((who, account.name) for who, account in people.items()):
        mine = f"{address}/hub/api/users/{name}"
        requests.post(f"{mine}/server", headers=headers, timeout=ANSWER_SECONDS).raise_for_status()
        users[who] = User(name, f"{address}/user/{name}/", token_of(address, headers, name))
    for user in users.values():
        wait_until(lambda user=user: user.request("GET", "api/status").ok, hub)
    users[ASSISTANT] = User(ASSISTANT, users["teacher"].address, token_of(address, headers, ASSISTANT))
    return users


def wait_until(answers: Callable[[], bool], hub: subprocess.Popen) -> None:
    """Ask again until it works, as long as the hub runs."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and hub.poll() is None:
        with contextlib.suppress(requests.RequestException):
            if answers():
                return
        time.sleep(0.2)
    raise AssertionError(f"the hub or a server did not answer: {hub.args}")
