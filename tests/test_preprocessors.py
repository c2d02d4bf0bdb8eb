"""The settings of grading."""

import pytest
from traitlets.config import Config

from autograder.classroom.preprocessors import GradeSubmission
from autograder.errors import CourseError
from autograder.judging.inputs import PUBLIC_SEED


def test_the_seed_of_the_public_inputs_is_refused() -> None:
    with pytest.raises(CourseError, match="draws the inputs that students have"):
        GradeSubmission(config=Config(GradeSubmission={"seed": PUBLIC_SEED}))


def test_a_seed_that_nobody_chose_is_never_the_public_one(package, monkeypatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda bound: PUBLIC_SEED)
    assert GradeSubmission().submission(b"", package).seed != PUBLIC_SEED


def test_limits_are_the_settings_in_bytes() -> None:
    limits = GradeSubmission(config=Config(GradeSubmission={"memory": 3, "cell_seconds": 7.5})).limits()
    assert (limits.memory_bytes, limits.cell_seconds) == (3 * 2**20, 7.5)
