"""A student's workspace: lessons put there from the installed package, brought up to date, opened in JupyterLab."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from ..errors import CourseError, command
from ..paths import (
    CONFIG_NAME,
    INDEX_NAME,
    PROGRESS_NAME,
    STUDENT_FOLDER,
    Course,
    Lesson,
    find_course,
    packed_lessons,
    replace_text,
)
from .release_record import TAKES, read_release_record, write_release_record

LAB_CONFIG = Path(__file__).parent / "lab"
CONFIG, CONFIG_MARK = "ipython_config.py", "Installed into the environment's etc/ipython"


def find_workspace() -> Course:
    """Return the course that contains the working directory, or where its lessons are to be put.

    They go into a folder of their own, or beside the package where the working directory is an unzipped bundle.
    """
    try:
        return find_course()
    except CourseError:
        if not packed_lessons().is_file():
            raise
        folder = Path.cwd()
        unzipped = folder / packed_lessons().relative_to(packed_lessons().parents[2])
        return Course(folder if unzipped.is_file() else folder / STUDENT_FOLDER)


def hub_workspace() -> Course:
    """Return where the user of a JupyterHub has the lessons: in a folder of their own, whatever lies above it.

    Raises CourseError where the installed package carries none.
    """
    if not packed_lessons().is_file():
        raise CourseError(f"{sys.prefix} has no lessons: pip install the bundle of your course there.")
    return Course(Path.cwd() / STUDENT_FOLDER)


def update_lessons(course: Course) -> list[str]:
    """Bring a student's copy up to the release that is installed; return what to say about it.

    A notebook that the student has changed stays as it is; everything else follows the release. An instructor's course
    is left alone.
    """
    if not packed_lessons().is_file() or (course.root / CONFIG_NAME).is_file():
        return []
    before, newer = read_release_record(course.release_record)
    after, lines = dict[str, str](), []
    with zipfile.ZipFile(packed_lessons()) as archive:
        for name in archive.namelist():
            content, path = archive.read(name), course.root / name
            after[name] = version_of(path, content)
            if is_mine(path, before.get(name)) and path.read_bytes() != content:
                if before.get(name, after[name]) != after[name] and path != course.index:
                    newer.add(path.stem)
                    lines.append(new_version(course, path))
                continue
            newer.discard(path.stem)
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    write_release_record(course.release_record, after, newer)
    refresh_start_page(course.index)
    return [*lines, f"The lessons are in {course.index.parent}."] if after != before else lines


def is_mine(path: Path, released: str | None) -> bool:
    """Say whether a file is a notebook that is no longer what was released, as far as anybody knows."""
    return path.is_file() and path.suffix == ".ipynb" and version_of(path, path.read_bytes()) != released


def version_of(path: Path, content: bytes) -> str:
    """Return what tells versions of a file apart: its checksum, of the start page that of the text in its cells."""
    if path.name == INDEX_NAME:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            sources = ["".join(cell["source"]) for cell in json.loads(content)["cells"]]
            return content_digest(json.dumps(sources).encode())
    return content_digest(content)


def new_version(course: Course, path: Path) -> str:
    """Return what to say of a notebook that has a new version."""
    name = path.relative_to(course.root).as_posix()
    swap = command(f"reset --lesson {path.stem}")
    return f"{name} has a new version. You have worked in the old one, which stays; `{swap}` {TAKES}."


def refresh_start_page(index: Path) -> None:
    """Have the start page show what is recorded now, and not what it showed when it was last saved."""
    if not index.with_name(PROGRESS_NAME).is_file():
        return
    from .progress import overview  # takes a second

    with contextlib.suppress(ValueError, KeyError, TypeError):  # it is not as it was released
        page = json.loads(index.read_bytes())
        (cell,) = (each for each in page["cells"] if each["cell_type"] == "code")
        shown = overview(index.parent)
        data = {"text/plain": repr(shown), "text/html": shown._repr_html_()}
        cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        replace_text(index, json.dumps(page, indent=1, ensure_ascii=False) + "\n")


def content_digest(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def install_kernel_start() -> list[str]:
    """Put what the lessons' kernels run first where IPython looks for it; return what to say about it.

    pip does so too, unless the package is installed as editable. Where the environment may not be changed, kernels
    start without it. A file of the same name that somebody else has put there stays as it is.
    """
    target, lines = Path(sys.prefix) / "etc" / "ipython", []
    with contextlib.suppress(OSError):
        for path in (LAB_CONFIG / "kernel").glob("*.py"):
            installed = target / path.name
            if path.name == CONFIG and is_anothers(installed):
                lines.append(f"{installed} is not this course's and was left alone: kernels start without {path}.")
            elif not installed.is_file() or installed.read_bytes() != path.read_bytes():
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, installed)
    return lines


def is_anothers(installed: Path) -> bool:
    """Say whether a configuration is there that does not say that it came with the package."""
    return installed.is_file() and CONFIG_MARK not in installed.read_text(encoding="utf-8", errors="replace")


def open_lab(course: Course, lesson: Lesson | None, arguments: Sequence[str]) -> None:
    """Open JupyterLab on the start page or on a lesson; return when it is shut down."""
    print("\n".join(install_kernel_start()), end="", file=sys.stderr)
    paths = [str(LAB_CONFIG), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    from jupyterlab.labapp import main

    page = [f"--LabApp.default_url=/lab/tree/{lesson.name}/{lesson.notebook_name}"] if lesson else []
    main(argv=[f"--ServerApp.root_dir={course.index.parent}", *page, *arguments])


def close_to_others(course: Course) -> None:
    """Let nobody else read a user's work, what was handed in, its feedback, nor the cells that IPython remembers.

    Some systems' homes are open.
    """
    ipython = Path(os.environ.get("IPYTHONDIR") or Path.home() / ".ipython")
    for folder in (course.root, Path(jupyter_data_dir(), "nbgrader_cache"), ipython):
        with contextlib.suppress(OSError):  # such as an administrator's, which users share
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)


def serve_hub(arguments: Sequence[str]) -> None:
    """Become the server that JupyterHub starts for a user.

    Raises:
        CourseError: this environment has no JupyterHub.
    """
    if find_spec("jupyterhub") is None:
        raise CourseError(f"{sys.prefix} has no JupyterHub: `pip install jupyterhub` there, in your hub's version.")
    os.execv(sys.executable, [sys.executable, "-m", "jupyterhub.singleuser", *arguments])
