"""`lessons gpt2` against a server of the test's own: whole, resumed, too short, too long, changed, missing, none."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from autograder.student.gpt2 import FILES, DownloadError, PublishedFile, fetch_gpt2, missing

CONTENT = bytes(range(256)) * 5000  # more than one piece
FILE = PublishedFile("model.safetensors", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


class Server(ThreadingHTTPServer):
    """Serves one file; `content` may be another, `stops_after` so many bytes, `ranges` are understood or not."""

    content, stops_after, ranges = CONTENT, 2**40, True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.asked.append(wanted)
        if not self.path.endswith(FILE.name):
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.ranges else 0
        body = self.server.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.server.stops_after])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.shutdown()
    server.server_close()


def fetch(source: str, target: Path, file: PublishedFile = FILE, answer: str = "y") -> str:
    return fetch_gpt2(lambda question: answer, source, target, (file,))


def test_a_whole_file_arrives_and_is_not_fetched_twice(server: Server, tmp_path: Path) -> None:
    fetch(server.address, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [FILE.name]
    assert (tmp_path / FILE.name).read_bytes() == CONTENT
    assert "already" in fetch(server.address, tmp_path)
    assert server.asked == [""]


def test_size_and_checksum_are_said_before_anything_is_fetched(server: Server, tmp_path: Path, capsys) -> None:
    assert "Nothing was fetched" in fetch(server.address, tmp_path / "new", answer="")
    said = capsys.readouterr().out
    assert f"{FILE.size:,} bytes" in said
    assert FILE.sha256 in said
    assert (server.asked, list(tmp_path.iterdir())) == ([], [])


@pytest.mark.parametrize("ranges", [True, False])
def test_a_broken_transfer_goes_on_where_it_stopped(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.stops_after = 1_100_000
    with pytest.raises(DownloadError, match=r"bytes came, and are kept|could not be fetched"):
        fetch(server.address, tmp_path)
    kept = (tmp_path / f"{FILE.name}.part").stat().st_size
    assert 0 < kept < FILE.size
    assert missing(tmp_path, (FILE,)) == [FILE]
    server.stops_after, server.ranges = 2**40, ranges
    fetch(server.address, tmp_path)
    assert (tmp_path / FILE.name).read_bytes() == CONTENT
    assert server.asked == ["", f"bytes={kept}-"]


def test_a_file_that_came_whole_but_was_not_renamed_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / f"{FILE.name}.part").write_bytes(CONTENT)
    fetch(server.address, tmp_path)
    assert server.asked == []
    assert missing(tmp_path, (FILE,)) == []


def test_a_file_of_another_length_is_refused_before_it_is_written(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1]
    with pytest.raises(DownloadError, match="1,279,999 bytes of that name, not 1,280,000"):
        fetch(server.address, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_changed_file_is_thrown_away(server: Server, tmp_path: Path) -> None:
    server.content = b"x" + CONTENT[1:]
    with pytest.raises(DownloadError, match="checksum"):
        fetch(server.address, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_the_server_does_not_have_is_one_line(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"other\.txt: the server answered 404, Not Found\. `.* gpt2` tries again"):
        fetch(server.address, tmp_path, PublishedFile("other.txt", 5, ""))
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_it_is_one_line(server: Server, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(DownloadError, match="could not be fetched"):
        fetch(server.address, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_where_nobody_can_answer_nothing_is_fetched(tmp_path: Path) -> None:
    def nobody(question: str) -> str:
        raise EOFError

    assert "Nothing was fetched" in fetch_gpt2(nobody, "http://127.0.0.1:9", tmp_path / "new", (FILE,))
    assert list(tmp_path.iterdir()) == []


def test_the_published_sizes_add_up() -> None:
    weights, masks, header = 4 * 124_439_808, 4 * 12 * 1024**2, 8 + 14_283
    assert {file.name: file.size for file in FILES}["model.safetensors"] == weights + masks + header
