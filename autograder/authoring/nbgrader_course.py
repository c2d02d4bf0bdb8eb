"""nbgrader, driven from Python with the course's own configuration."""

from __future__ import annotations

import copy
import logging
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from ..errors import CourseError, one_line
from ..paths import CONFIG_NAME, Course


def load_config(root: Path) -> Config:
    """Return what nbgrader_config.py says now. It is the only place where the course is configured.

    Raises:
        CourseError: it is missing, or cannot be run.
    """
    try:
        return read_config(root, (root / CONFIG_NAME).stat().st_mtime_ns)
    except CourseError:
        raise
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {one_line(str(error))}"
        raise CourseError(f"{root / CONFIG_NAME} cannot be read: {reason}") from error


@lru_cache(maxsize=4)
def read_config(root: Path, _changed: int) -> Config:
    """Run nbgrader_config.py, once for each time that it was changed."""
    return PyFileConfigLoader(CONFIG_NAME, path=str(root)).load_config()


def graded_questions(root: Path) -> list[str]:
    """Return the names of the questions that count, as `c.Questions.graded` lists them; nothing where all do."""
    if not (root / CONFIG_NAME).is_file():
        return []
    return list(load_config(root).get("Questions", {}).get("graded", []))


def open_nbgrader(course: Course, **settings: str) -> Any:
    """Return nbgrader's API for a course."""
    # nbgrader 0.9.6 adds objects to SQLAlchemy sessions late; every row is right nevertheless
    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\.api")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    config = copy.deepcopy(load_config(course.root))
    if course.attempt:
        apart = {"autograded_directory": str(course.autograded), "feedback_directory": str(course.feedback)}
        config.CourseDirectory.update(apart)
    config.CourseDirectory.update(settings)
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def raise_on_failure(result: dict[str, Any], what: str) -> None:
    """Raise CourseError with nbgrader's own words where one of its commands failed."""
    if not result["success"]:
        log = str(result.get("error") or "") + str(result.get("log") or "")
        lines = [line for line in log.splitlines() if "ERROR" in line or "Error" in line] or log.splitlines()[-3:]
        raise CourseError(f"{what}: nbgrader reports: " + " ".join(line.strip() for line in lines[-3:]))
