"""A class in four parts and a merge give the rows of one run, however often they are run, and keep what people gave."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from autograder import __main__
from autograder.classroom.gradebook import open_gradebook
from autograder.classroom.run import grade_lesson, register
from autograder.classroom.shards import Shard, grade_shard, merge, shard_from
from autograder.errors import CourseError
from autograder.grading.grade import RECORD
from autograder.paths import Course

from .conftest import LESSON, needs_sandbox
from .test_run import Postponed, rows_in

STUDENTS = [f"student{n}" for n in range(8)]  # four of them in one shard, and none in another
SHARDS = [Shard(number, 4) for number in (1, 2, 3, 4)]
SEED = {"seed": 11}
ALL_GRADED, ALL_BEFORE = {"graded": len(STUDENTS)}, {"as before": len(STUDENTS)}


@pytest.fixture(scope="module")
def handed_in(classroom: Course, hand_in, right) -> Course:
    for n, student in enumerate(STUDENTS):
        hand_in(classroom, student, {**right, "question_R2": "Mine."} if n % 4 == 1 else {})
    return classroom


@pytest.fixture(scope="module")
def expected(handed_in: Course, tmp_path_factory) -> dict:
    """The rows of one run, after which all is as before it."""
    register(handed_in, handed_in.lesson(LESSON))
    kept = shutil.copytree(handed_in.coursework, tmp_path_factory.mktemp("kept") / "coursework")
    grade_lesson(handed_in, handed_in.lesson(LESSON), options=SEED, jobs=2)
    rows = rows_in(handed_in)
    shutil.rmtree(handed_in.coursework)
    shutil.move(kept, handed_in.coursework)
    return rows


class StopsMidway(Postponed):
    """Grades the first submission, and is stopped at the fourth."""

    def submit(self, work, /, *arguments) -> Future:
        if len(self.futures) == 3:
            raise KeyboardInterrupt
        return super().submit(work, *arguments)


@pytest.fixture(scope="module")
def graded(handed_in: Course, expected) -> Course:
    """Four shards, of which one was stopped midway and started again."""
    lesson = handed_in.lesson(LESSON)
    with pytest.raises(KeyboardInterrupt):
        grade_shard(handed_in, lesson, shard=SHARDS[2], options=SEED, executor=StopsMidway())
    assert [len(names_in(handed_in, shard)) for shard in SHARDS] == [0, 0, 1, 0]
    for shard in SHARDS:
        grade_shard(handed_in, lesson, shard=shard, options=SEED)
    return handed_in


@pytest.fixture
def sharded(graded: Course, tmp_path: Path) -> Iterator[Course]:
    """The same for a test that changes the class's data; nothing is merged."""
    kept = shutil.copytree(graded.coursework, tmp_path / "kept")
    yield graded
    shutil.rmtree(graded.coursework)
    shutil.move(kept, graded.coursework)


def names_in(course: Course, shard: Shard) -> set[str]:
    """Return whom a shard has graded."""
    return {path.parts[-3] for path in (course.shards / shard.name).glob(f"autograded/*/{LESSON}/{LESSON}.ipynb")}


def merged(course: Course, **how) -> tuple[Counter[str], dict[str, str]]:
    """Merge; return how many fared in which way, and why some were left."""
    results = merge(course, course.lesson(LESSON), **how)
    return Counter(r.status for r in results), {r.student: r.note for r in results if r.needs_person}


def test_everybody_belongs_to_one_shard_and_it_depends_on_the_id_alone() -> None:
    assert all(sum(student in shard for shard in SHARDS) == 1 for student in STUDENTS)
    assert [next(s.number for s in SHARDS if student in s) for student in ("ada", "ben", "chloe")] == [2, 3, 2]


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "2/0", "a/b", "2/4/6", "-1/4"])
def test_what_means_no_shard_is_said(text: str) -> None:
    with pytest.raises(CourseError, match=f"--shard {text}: write it as 2/8"):
        shard_from(text)


@needs_sandbox
def test_a_shard_writes_into_a_folder_of_its_own_and_into_no_gradebook(graded: Course) -> None:
    assert {student: shard for shard in SHARDS for student in names_in(graded, shard)} == {
        student: shard for student in STUDENTS for shard in SHARDS if student in shard
    }
    assert not graded.autograded.exists()
    assert rows_in(graded) == {}


@needs_sandbox
def test_a_task_that_is_started_again_goes_on_where_it_was(sharded: Course) -> None:
    lesson, shard = sharded.lesson(LESSON), max(SHARDS, key=lambda shard: len(names_in(sharded, shard)))
    first, *rest = sorted(names_in(sharded, shard))
    Course(sharded.root, shard.name).graded_notebook(lesson, first).unlink()
    results = grade_shard(sharded, lesson, shard=shard, options=SEED)
    assert rest
    assert {result.student: result.status for result in results} == {
        first: "graded",
        **dict.fromkeys(rest, "as before"),
    }


@needs_sandbox
def test_a_merge_gives_the_rows_of_one_run_and_a_second_one_changes_nothing(sharded: Course, expected) -> None:
    assert merged(sharded) == (ALL_GRADED, {})
    assert rows_in(sharded) == expected
    assert merged(sharded) == (ALL_BEFORE, {})
    assert rows_in(sharded) == expected
    statuses = {result.status for result in grade_lesson(sharded, sharded.lesson(LESSON), options=SEED)}
    assert statuses == {"as before"}


@needs_sandbox
def test_points_that_a_person_gave_meanwhile_are_kept(sharded: Course) -> None:
    merged(sharded)
    with open_gradebook(sharded) as gradebook:
        grade = gradebook.find_grade("question_R2", LESSON, LESSON, "student1")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    sharded.graded_notebook(sharded.lesson(LESSON), "student1").unlink()
    assert merged(sharded)[0]["graded"] == 1
    assert rows_in(sharded)[("student1", "question_R2")] == (1.5, False)


@needs_sandbox
def test_a_shard_of_another_version_of_the_lesson_is_refused_with_a_line(sharded: Course, package) -> None:
    for student in names_in(sharded, SHARDS[2]):
        path = Course(sharded.root, SHARDS[2].name).graded_notebook(sharded.lesson(LESSON), student)
        path.write_text(path.read_text().replace(package.digest, "0" * 64))
    reasons = set(merged(sharded)[1].values())
    assert reasons == {"the result in shard 3/4 is of another version of the lesson; grade it again"}
    assert {student for student, _ in rows_in(sharded)} == {s for s in STUDENTS if s not in SHARDS[2]}


@needs_sandbox
def test_a_submission_that_has_changed_since_is_left(sharded: Course, hand_in, right) -> None:
    hand_in(sharded, "student0", right)
    counts, left = merged(sharded)
    assert (counts["graded"], [*left]) == (len(STUDENTS) - 1, ["student0"])
    assert "is of another submission than the one here; grade it again" in left["student0"]


@needs_sandbox
def test_a_shard_that_is_missing_is_named_with_whom_it_lacks(sharded: Course) -> None:
    shard = next(shard for shard in SHARDS if "student0" in shard)
    lacking = sorted(names_in(sharded, shard))
    shutil.rmtree(sharded.shards / shard.name)
    counts, left = merged(sharded)
    assert left == dict.fromkeys(lacking, f"no result in shard {shard.number}/4; grade it")
    assert counts["graded"] == len(STUDENTS) - len(lacking)


@needs_sandbox
@pytest.mark.parametrize("text", ["{", "{}", '{"metadata": {"autograder": 3}}'])
def test_a_result_that_cannot_be_read_is_left(sharded: Course, text: str) -> None:
    shard = next(shard for shard in SHARDS if "student0" in shard)
    Course(sharded.root, shard.name).graded_notebook(sharded.lesson(LESSON), "student0").write_text(text)
    assert merged(sharded)[1] == {"student0": f"the result in shard {shard.number}/4 cannot be read; copy it again"}


@needs_sandbox
def test_a_submission_that_cannot_be_graded_is_named_with_the_reason(sharded: Course, hand_in) -> None:
    hand_in(sharded, "zoe", {}).write_text("{")
    assert "cannot be read as a notebook: it has to be handed in again" in merged(sharded)[1]["zoe"]


@needs_sandbox
def test_what_was_graded_here_meanwhile_stays_unless_the_shards_results_are_asked_for(sharded: Course) -> None:
    grade_lesson(sharded, sharded.lesson(LESSON), options={"seed": 12})
    assert merged(sharded) == (ALL_BEFORE, {})
    assert merged(sharded, force=True) == (ALL_GRADED, {})
    record = json.loads(sharded.graded_notebook(sharded.lesson(LESSON), "student1").read_text())["metadata"][RECORD]
    assert record["seed"] == 11


def test_without_a_shard_there_is_nothing_to_merge(scratch: Course) -> None:
    with pytest.raises(CourseError, match="coursework/shards/ has no shard to merge"):
        merge(scratch, scratch.lesson(LESSON))


@needs_sandbox
def test_the_commands_take_the_same_words_as_make(sharded: Course, monkeypatch, capsys) -> None:
    monkeypatch.chdir(sharded.root)
    assert __main__.main(["grade", "--lesson", LESSON, "--shard", "3/4", "--seed", "11"]) == 0
    assert re.findall(r"^(\w+) +\w+ +as before +\d+/\d+$", capsys.readouterr().out, re.M) == sorted(
        names_in(sharded, SHARDS[2])
    )
    assert __main__.main(["merge", "--lesson", LESSON]) == 0
    assert f"{len(STUDENTS)} graded, 0 need a person." in capsys.readouterr().out


def test_a_folder_that_is_no_shards_is_none(scratch: Course) -> None:
    for name in ("copy-of-2-of-8", "notes-of-mine"):
        (scratch.shards / name).mkdir(parents=True)
    with pytest.raises(CourseError, match="has no shard to merge"):
        merge(scratch, scratch.lesson(LESSON))
    (scratch.shards / "2-of-8").mkdir()
    assert merge(scratch, scratch.lesson(LESSON)) == []
