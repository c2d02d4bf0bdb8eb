"""`lessons explain`: what every explainer says of one answer, and which of them the student reads."""

from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.authoring.notebook import notebook_text
from autograder.authoring.sample_submissions import submission
from autograder.grading.package import LessonPackage

from .conftest import LESSON, needs_sandbox

pytestmark = needs_sandbox
WEIGHTS_FIRST = """
def attend(query, key, value):
    weights = (query @ key.mT).softmax(dim=-1)
    return weights, weights @ value
"""


def test_every_explainer_is_asked_and_the_first_one_is_marked(
    package: LessonPackage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = tmp_path / "handed_in.ipynb"
    notebook.write_text(notebook_text(submission(package, {"attend": WEIGHTS_FIRST})), encoding="utf-8")
    assert main(["explain", "--lesson", LESSON, "--exercise", "attend", "--from", str(notebook)]) == 0
    first, second, *said = capsys.readouterr().out.splitlines()
    assert first == "attend: 0 of 4 checks passed"
    assert second.startswith("first failed: ")
    assert said[0].startswith("> known_mistake (")
    assert {"- repair", "- relation (wrong order)", "- what_is_there"} <= {line.split(":")[0] for line in said[1:]}


def test_an_exercise_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--lesson", LESSON, "--exercise", "atend", "--from", "ada"]) == 2
    assert "'atend' is not an exercise" in capsys.readouterr().err
