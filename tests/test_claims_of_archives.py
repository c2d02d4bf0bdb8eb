"""Archives that only claim to be large, and people with one name."""

import io
import struct
import zipfile
from pathlib import Path

from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.classroom.collect import collect

from .conftest import LESSON

MANY = 3000


def listing_of(entries: int, size: int) -> bytes:
    """An archive that only lists: each entry claims a size."""
    head = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, size, 5, 0, 0, 0, 0, 0, 0)
    listed = (head + b"aaaaa") * entries
    count = entries & 0xFFFF
    return listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(listed), 0, 0)


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def test_what_claims_to_be_large_is_counted_like_all_else(scratch, tmp_path: Path) -> None:
    """87 KB made 600,000 lines and 194 MB; 1.5 MB would make ten million."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    inner = listing_of(MANY, 60 * 2**20)
    (inbox / "mallory.zip").write_bytes(zipped(**{"a.zip": inner, "b.zip": inner}))
    report = collect(scratch, scratch.lesson(LESSON), inbox)
    assert len(report.left_out) < 1100


def test_who_has_somebody_elses_name_cannot_use_up_what_that_person_may_hand_in(scratch, package, tmp_path) -> None:
    """Moodle lets people edit their own names by default; the number is their own. Two Jane Does are honest, too."""
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    notebook = notebook_text(submission(package, {})).encode()
    files = {f"Jane Doe_100_assignsubmission_file/{n}.txt": b"" for n in range(1001)}
    files[f"Jane Doe_200_assignsubmission_file/{LESSON}.ipynb"] = notebook
    files[f"Ann Lee_300_assignsubmission_file/{LESSON}.ipynb"] = notebook
    (inbox / "moodle.zip").write_bytes(zipped(**files))
    report = collect(scratch, scratch.lesson(LESSON), inbox)
    assert len(report.collected) == 2
