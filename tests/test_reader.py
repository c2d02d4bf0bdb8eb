"""A process of its own reads what may never answer. Here, a pipe that nobody writes to stands for that."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom import reader as reader_module
from autograder.classroom.plain_files import open_folder, read_folder, status_in
from autograder.classroom.reader import MOUNTED, NO_ANSWER, Reader, is_mounted
from autograder.errors import SubmissionError, UnansweredError


@pytest.fixture
def pipe() -> Iterator[int]:
    ends = os.pipe()
    yield ends[0]
    for descriptor in ends:
        os.close(descriptor)


def test_what_does_not_answer_is_left_alone_and_the_next_one_is_read(pipe: int, tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "a.ipynb").write_text("{}")
    reader = Reader(0.2)
    for _ in range(2):  # the second time at once
        with pytest.raises(UnansweredError, match=NO_ANSWER):
            reader.ask(os.read, pipe, 1)
    with open_folder(tmp_path) as folder:
        found = reader.ask(read_folder, folder, "ada", {"a.ipynb": 10, "none": 10}, os.getuid())
    assert found.files == {"a.ipynb": b"{}"}


def test_it_begins_where_only_the_students_side_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "autograder").mkdir()
    (tmp_path / "autograder" / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", sys._base_executable)  # this environment finds the rest of the package
    with open_folder(tmp_path) as folder:
        assert Reader().ask(status_in, folder, "autograder").st_mode == (tmp_path / "autograder").stat().st_mode


def test_what_a_function_raises_is_raised_here_and_the_process_stays(tmp_path: Path) -> None:
    reader = Reader()
    with open_folder(tmp_path) as folder:
        for _ in range(2):
            with pytest.raises(FileNotFoundError):
                reader.ask(read_folder, folder, "nobody", {}, 0)
            connection = reader._connection
    assert reader._connection is connection is not None


def test_a_process_that_is_killed_is_replaced(tmp_path: Path, monkeypatch) -> None:
    started, real = [], subprocess.Popen
    monkeypatch.setattr(reader_module.subprocess, "Popen", lambda *a, **k: started.append(real(*a, **k)) or started[-1])
    reader = Reader()
    with open_folder(tmp_path) as folder:
        reader.ask(os.fpathconf, folder, "PC_NAME_MAX")
        started[0].kill()
        started[0].wait()
        with pytest.raises(UnansweredError, match="has ended"):
            reader.ask(os.fpathconf, folder, "PC_NAME_MAX")
        assert reader.ask(os.fpathconf, folder, "PC_NAME_MAX") > 0
    reader._end()
    assert len(started) == 2
    assert started[1].returncode is not None


@pytest.mark.parametrize("end", ["\x0b", "\x1c", "\u2028", "\r"], ids=ascii)
def test_a_mount_whose_name_holds_another_end_of_a_line_is_one_row(tmp_path: Path, monkeypatch, end: str) -> None:
    monkeypatch.setattr(reader_module, "MOUNTS", tmp_path / "mounts")
    row = f"1 2 0:1 / {tmp_path}/ada{end}bob{end} rw - fuse mallory rw\n"
    (tmp_path / "mounts").write_text(row, encoding="utf-8", newline="")
    with open_folder(tmp_path) as folder:
        assert is_mounted(folder, f"ada{end}bob{end}")


def test_what_is_mounted_is_not_touched(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(reader_module, "MOUNTS", tmp_path / "mounts")
    (tmp_path / "mounts").write_text(f"1 2 0:1 / {tmp_path}/ada+x\\0402026/sub rw - fuse mallory rw\n")
    with open_folder(tmp_path) as folder:
        assert is_mounted(folder, "ada+x 2026")
        assert not is_mounted(folder, "ada+x")
        with pytest.raises(SubmissionError, match=MOUNTED):
            Reader().ask(os.fpathconf, folder, "ada+x 2026")


def test_however_many_are_asked_about_there_is_an_end(tmp_path: Path, monkeypatch) -> None:
    asked, moments = [], count(1000.0)
    monkeypatch.setattr(reader_module, "time", SimpleNamespace(monotonic=moments.__next__))
    monkeypatch.setattr(Reader, "_asked", lambda *given: asked.append(given) or {})
    with open_folder(tmp_path) as folder:
        Reader().owners(folder, [f"ada+{number}" for number in range(20_000)])
    assert 1 <= len(asked) <= 3
