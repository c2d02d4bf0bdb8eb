"""`lessons gpt2` against a server of the test's own: whole, changed, missing, none."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from autograder.errors import CourseError
from autograder.student.gpt2 import FILES, PublishedFile, fetch_gpt2, missing

CONTENT = bytes(range(256)) * 5000  # more than one piece
FILE = PublishedFile("model.safetensors", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture
def published(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server's address, and the file that it has."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / FILE.name).write_bytes(CONTENT)
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", folder / FILE.name
        server.shutdown()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "target"


def fetch(source: str, target: Path, file: PublishedFile = FILE, answer: str = "y") -> str:
    return fetch_gpt2(lambda question: answer, source, target, (file,))


def test_a_whole_file_arrives_and_is_not_fetched_twice(published: tuple[str, Path], target: Path) -> None:
    fetch(published[0], target)
    assert [path.name for path in target.iterdir()] == [FILE.name]
    assert (target / FILE.name).read_bytes() == CONTENT
    assert missing(target, (FILE,)) == []
    assert "already" in fetch("http://127.0.0.1:9", target)


def test_size_and_checksum_are_said_before_anything_is_fetched(target: Path, capsys) -> None:
    assert "Nothing was fetched" in fetch("http://127.0.0.1:9", target, answer="")
    said = capsys.readouterr().out
    assert f"{FILE.size:,} bytes" in said
    assert FILE.sha256 in said
    assert not target.exists()


@pytest.mark.parametrize("content", [b"x" + CONTENT[1:], CONTENT[:-1]])
def test_a_changed_file_and_half_a_file_are_thrown_away(published, target: Path, content: bytes) -> None:
    published[1].write_bytes(content)
    with pytest.raises(CourseError, match=r"invalid hash value.* gpt2` tries again"):
        fetch(published[0], target)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("port", ["", "9"])
def test_without_a_network_or_such_a_file_it_is_one_line(published: tuple[str, Path], target: Path, port: str) -> None:
    source = f"http://127.0.0.1:{port}" if port else published[0]
    with pytest.raises(CourseError, match=r"other\.txt was not fetched: .*(404|refused).*\. `.* gpt2` tries again"):
        fetch(source, target, PublishedFile("other.txt", 5, ""))
    assert list(target.iterdir()) == []


def test_where_nobody_can_answer_nothing_is_fetched(target: Path) -> None:
    def nobody(question: str) -> str:
        raise EOFError

    assert "Nothing was fetched" in fetch_gpt2(nobody, "http://127.0.0.1:9", target, (FILE,))
    assert not target.exists()


def test_the_published_sizes_add_up() -> None:
    weights, masks, header = 4 * 124_439_808, 4 * 12 * 1024**2, 8 + 14_283
    assert {file.name: file.size for file in FILES}["model.safetensors"] == weights + masks + header
