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

from .browser import end
from .waiting import free_port

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "hub.md"
FILE = re.compile(r"`([^`\n]+)`:\n\n```\w+\n(.*?)```", re.S)
FOLDER = re.compile(r"^install -d .*$", re.M)
PROXY = shutil.which("configurable-http-proxy", path=f"{ROOT}/build/hub/node_modules/.bin:{os.environ['PATH']}")
ONE_ACCOUNT = "c.ExchangeCollect.check_owner = False\n"  # as the page says for servers that share a system account
ASSISTANT = "tina"  # who grades on the teacher's server, and has none
START_SECONDS, ANSWER_SECONDS = 300, 120
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
    """Where a test has what docs/hub.md has under fixed paths."""

    root: Path

    @property
    def environment(self) -> Path:
        return self.root / "environment"

    @property
    def exchange(self) -> Path:
        return self.root / "exchange"

    def home(self, user: str) -> Path:
        return self.root / "home" / user

    @property
    def moved(self) -> dict[str, str]:
        """Where everything is that docs/hub.md has somewhere else; the board runs as whoever runs the hub."""
        return {
            "/opt/attention": str(self.environment),
            "/srv/nbgrader/exchange": str(self.exchange),
            "/srv/nbgrader/board": str(self.root / "board"),
            "/home/<teacher>": str(self.home("teacher")),
            '"user": "<teacher>"': '"user": ""',
            "<teacher>": "teacher",
            "<assistant>": ASSISTANT,
            "127.0.0.1:10101": f"127.0.0.1:{free_port()}",
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


def configure(places: Places, teacher: str) -> str:
    """Write the files of docs/hub.md; return what it adds to the hub's configuration."""
    for command in documented_folders():
        owner = command.replace("<teacher>", str(os.getuid()))
        subprocess.run(places.translate(owner).split(), check=True)
    files = documented_files()
    hub = places.translate(files.pop("jupyterhub_config.py"))
    for name, text in files.items():
        path = Path(places.translate(name, teacher))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(places.translate(text), encoding="utf-8")
    with (places.home(teacher) / ".jupyter" / "nbgrader_config.py").open("a", encoding="utf-8") as settings:
        settings.write(ONE_ACCOUNT)
    return hub


@dataclass(frozen=True)
class User:
    """Somebody who is logged in, and their server's address."""

    name: str
    address: str
    token: str

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


@contextmanager
def running(places: Places, settings: str, names: Sequence[str]) -> Iterator[dict[str, User]]:
    """Run a hub with its proxy, and the server of each user; yield the users."""
    port, token = free_port(), secrets.token_hex(16)
    config = places.root / "jupyterhub_config.py"
    config.write_text(settings + made_up_settings(places, port, token, names), encoding="utf-8")
    log = (places.root / "hub.log").open("w")
    hub = subprocess.Popen(
        [sys.executable, "-m", "jupyterhub", "-f", str(config)], cwd=places.root, stdout=log, stderr=subprocess.STDOUT
    )
    try:
        wait_until(lambda: requests.get(f"http://127.0.0.1:{port}/hub/api", timeout=5).ok, hub)
        yield log_in(f"http://127.0.0.1:{port}", {"Authorization": f"token {token}"}, names, hub)
    finally:
        end(hub)
        with contextlib.suppress(OSError):  # a hub that could not start leaves its proxy behind
            os.kill(int((places.root / "jupyterhub-proxy.pid").read_text()), signal.SIGTERM)
        log.close()


def made_up_settings(places: Places, port: int, token: str, names: Sequence[str]) -> str:
    """Return what a hub needs where everybody is made up: no passwords, and one system user for all."""
    scopes = ["admin:users", "admin:servers", "tokens"]
    settings = {
        "JupyterHub.subdomain_host": "",  # loopback has no names for users
        "JupyterHub.bind_url": f"http://127.0.0.1:{port}",
        "JupyterHub.hub_port": free_port(),
        "JupyterHub.db_url": "sqlite:///:memory:",
        "JupyterHub.cookie_secret_file": str(places.root / "cookie_secret"),
        "JupyterHub.authenticator_class": "dummy",
        "Authenticator.allowed_users": {*names, ASSISTANT},
        "JupyterHub.spawner_class": "simple",
        "SimpleLocalProcessSpawner.home_dir_template": str(places.home("{username}")),
        "Spawner.args": ["--allow-root"],
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


def log_in(address: str, headers: dict[str, str], names: Sequence[str], hub: subprocess.Popen) -> dict[str, User]:
    """Start everybody's server; return the users once all servers answer."""
    users = {}
    for name in names:
        mine = f"{address}/hub/api/users/{name}"
        requests.post(f"{mine}/server", headers=headers, timeout=ANSWER_SECONDS).raise_for_status()
        users[name] = User(name, f"{address}/user/{name}/", token_of(address, headers, name))
    for user in users.values():
        wait_until(lambda user=user: user.request("GET", "api/status").ok, hub)
    if "teacher" in users:
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
