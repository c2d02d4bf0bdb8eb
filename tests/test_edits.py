"""Known mistakes are edits of a solution: what is edited, what comes out, and what the author is told."""

import pytest

from autograder.authoring.lesson_package import package_of
from autograder.errors import LessonError
from autograder.judging import syntax
from autograder.judging.answer_key import load_answer_key
from autograder.judging.edits import EditError, Solution, edited, replaced_once, sources_of, without
from autograder.judging.syntax import Code

REFERENCE = '''
def halve(x, dim=-1):
    """Halve, along `dim`."""
    if dim > 3:
        raise ValueError("no such axis")
    total = x.sum(dim=dim)  # a comment
    return x / total.sum(
        dim=dim,
    )
'''


def sources(*edits: str, also_without: tuple[str, ...] = (), mistakes: str = "", **options: object) -> dict[str, str]:
    halve = Solution("halve", also_without)
    halve.mutant("wrong", *edits, says="Wrong.", **options)
    return dict(sources_of(halve, halve.declared[0], REFERENCE, Code(mistakes)))


def test_an_edit_is_made_where_its_text_is_however_it_is_spaced() -> None:
    assert "return x * total.sum(dim=dim)" in sources("x/total", "x * total")["wrong"]
    assert "raise" not in sources('if dim > 3:\n    raise ValueError("no such axis")', "")["wrong"]


@pytest.mark.parametrize("old", ["x.mean", "dim=dim"])
def test_an_edit_whose_text_is_not_there_once_is_refused(old: str) -> None:
    with pytest.raises(EditError, match="is not there" if old == "x.mean" else "is there 2 times"):
        sources(old, "x.amax")


def test_an_edit_can_be_made_everywhere() -> None:
    assert sources("dim=dim", "dim=-1", every=True)["wrong"].count("dim=-1") == 3  # the default among them


def test_what_is_dropped_takes_its_comma_with_it() -> None:
    assert replaced_once("f(a, b=1, c=2)", "b=1", "") == "f(a, c=2)"


def test_a_name_is_not_found_within_another() -> None:
    assert replaced_once("total + to", "to", "x") == "total + x"


def test_a_mistake_is_known_with_and_without_what_may_be_missing() -> None:
    found = sources("x / total", "x * total", also_without=("if dim > 3:",))
    assert list(found) == ["wrong", "wrong~2"]
    assert ["raise" in source for source in found.values()] == [True, False]


def test_a_mistake_in_what_may_be_missing_has_no_variant() -> None:
    assert list(sources("dim > 3", "dim > 4", also_without=("if dim > 3:",))) == ["wrong"]


def test_a_body_keeps_the_signature_and_brings_its_helpers() -> None:
    mistakes = (
        "import math\nimport torch\nfrom autograder.checks import solution\n\ndef half(x):\n    return x / math.e\n"
    )
    source = sources(body="return half(x)", mistakes=mistakes)["wrong"]
    assert source.startswith("import math\n\ndef half(x)")
    assert source.endswith("def halve(x, dim=-1):\n    return half(x)")


def test_what_comes_out_has_to_be_python() -> None:
    with pytest.raises(EditError, match="not Python"):
        sources("x / total", "x /")


def test_a_guard_that_is_not_there_is_refused() -> None:
    with pytest.raises(EditError, match="0 statements begin with"):
        without("def f(x):\n    return x", ["if x:"])


def test_a_method_of_a_class_gets_another_body() -> None:
    layer = Solution("Layer")
    layer.mutant("idle", method="forward", body="return x", says="Idle.")
    text = "class Layer:\n    def __init__(self):\n        pass\n    def forward(self, x):\n        return 2 * x"
    assert edited(text, layer.declared[0]).endswith("def forward(self, x):\n        return x")


def test_an_edit_that_does_not_fit_names_its_line(scratch) -> None:
    lesson = scratch.lesson("02_queries_keys_values")
    text = lesson.mistakes_py.read_text(encoding="utf-8")
    line = 1 + next(n for n, words in enumerate(text.splitlines()) if '"no_transpose"' in words)
    lesson.mistakes_py.write_text(
        text.replace('"no_transpose", "key.mT"', '"no_transpose", "key.mt"'), encoding="utf-8"
    )
    with pytest.raises(LessonError, match=rf"mistakes\.py:{line}: no_transpose: `key\.mt` is not there"):
        package_of(lesson)


def test_students_get_no_mistakes_and_no_variants(course) -> None:
    for lesson in course.lessons():
        assert len(lesson.secret_files) == 3
        assert not set(lesson.secret_files) & set(lesson.released_files)


def test_a_lessons_mistakes_are_read_once_for_all_of_them(package, monkeypatch) -> None:
    read, real = [], syntax.read_statements
    monkeypatch.setattr(syntax, "read_statements", lambda text: (read.append(text), real(text))[1])
    assert len(load_answer_key(package.source).mistakes) > 20
    assert read.count(package.source.mistakes) == 1
