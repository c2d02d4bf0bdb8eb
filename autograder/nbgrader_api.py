"""nbgrader, driven from Python with the course's own configuration."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from .errors import CourseError
from .lessons import CONFIG_NAME, Course


@lru_cache(maxsize=4)
def load_config(root: Path) -> Config:
    """Return what nbgrader_config.py says. It is the only place where the course is configured."""
    return PyFileConfigLoader(CONFIG_NAME, path=str(root)).load_config()


def api_of(course: Course) -> Any:
    """Return nbgrader's API for a course, and make the folder that the gradebook needs."""
    course.coursework.mkdir(exist_ok=True)
    # nbgrader 0.9.6 adds objects to SQLAlchemy sessions late; every row is right nevertheless
    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.api")
    config = copy.deepcopy(load_config(course.root))
    logging.getLogger("alembic").setLevel(logging.WARNING)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


@contextmanager
def gradebook_of(course: Course) -> Iterator[Any]:
    """Open the course's gradebook."""
    api = api_of(course)
    with Gradebook(api.coursedir.db_url, api.coursedir.course_id) as gradebook:
        yield gradebook


def require(result: dict[str, Any], what: str) -> None:
    """Raise CourseError with nbgrader's own words where one of its commands failed."""
    if not result["success"]:
        log = str(result.get("error") or "") + str(result.get("log") or "")
        lines = [line for line in log.splitlines() if "ERROR" in line or "Error" in line] or log.splitlines()[-3:]
        raise CourseError(f"{what}: nbgrader reports: " + " ".join(line.strip() for line in lines[-3:]))
