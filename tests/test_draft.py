"""Drafting a known mistake from what a student wrote."""

import ast
import textwrap

import pytest

from autograder.authoring.draft import MESSAGE, add_draft, draft
from autograder.authoring.lesson_package import package_of
from autograder.classroom.submissions import exercise_cell
from autograder.errors import CourseError
from autograder.paths import Course

from .conftest import LESSON

WRONG = '''
import math

def helper(x):
    return x * math.sqrt(2)

def attend(query, key, value):
    """My attention."""
    weights = helper(query @ key.mT).softmax(dim=-1)
    return weights @ value, weights
'''


def test_a_draft_runs_nowhere_until_its_author_has_moved_it(scratch: Course, hand_in, right) -> None:
    """A student's top-level statements and default arguments would run with the author's rights."""
    trap = scratch.root / "ran"
    defaults = f"def attend(query, key, value, trap=open({str(trap)!r}, 'w')):\n    return query, key"
    lesson = scratch.lesson(LESSON)
    hand_in(scratch, "eve", {**right, "attend": defaults})
    add_draft(scratch, lesson, "attend", exercise_cell(scratch, lesson, "eve", "attend"))
    assert package_of(lesson).key.mistakes
    assert not trap.exists()
    assert "trap=open" in scratch.drafts(lesson).read_text()


def test_a_draft_that_was_moved_is_a_mistake_that_the_lesson_knows(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    name = add_draft(scratch, lesson, "attend", WRONG)
    text = lesson.mistakes_py.read_text() + scratch.drafts(lesson).read_text()
    lesson.mistakes_py.write_text(text)
    key = package_of(lesson).key
    (mine,) = [m for m in key.mistakes_of("attend") if m.name == name]
    assert mine.message == MESSAGE
    assert any(t.mistakes[name] != t.right for t in key.targets("attend", 3))


def test_drafts_of_one_lesson_have_names_of_their_own(scratch: Course) -> None:
    lesson = scratch.lesson(LESSON)
    assert len({add_draft(scratch, lesson, "attend", WRONG) for _ in range(3)}) == 3
    assert scratch.drafts(lesson).read_text().count("mistakes.py") == 1


def test_a_name_that_is_taken_is_not_used_again() -> None:
    assert draft("attend", WRONG, {"unnamed_1", "attend"})[0] == "unnamed_2"


def test_helpers_and_imports_come_along_and_the_students_docstring_does_not() -> None:
    _, text = draft("attend", WRONG, ())
    assert text.startswith("unnamed_1 = solution('attend')\nunnamed_1.mutant('unnamed_1', code=")
    assert "def helper(x)" in text
    assert "import math" in text
    assert "My attention" not in text


@pytest.mark.parametrize("end", ['"it\'s"', '"it\'s" * 2', '"\\\\"', "'\"'"])
def test_a_draft_may_end_in_any_quote(end: str) -> None:
    _, text = draft("attend", f"def attend(query):\n    return {end}", ())
    (code,) = [keyword.value.value for keyword in ast.parse(text).body[1].value.keywords if keyword.arg == "code"]
    assert ast.dump(ast.parse(textwrap.dedent(code)).body[0].body[0].value) == ast.dump(ast.parse(end).body[0].value)


def test_a_class_keeps_its_helpers_before_it() -> None:
    _, text = draft("Layer", "SIZE = 3\nclass Layer:\n    size = SIZE", ())
    assert text.index("SIZE = 3") < text.index("class Layer")


@pytest.mark.parametrize(
    ("source", "told"), [("def attend(", "is not Python"), ("attend = None", "does not define it")]
)
def test_a_cell_without_a_definition_is_refused(source: str, told: str) -> None:
    with pytest.raises(CourseError, match=told):
        draft("attend", source, ())
