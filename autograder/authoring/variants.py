"""Right answers written another way, which a lesson's variants.py declares as edits of its solutions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..judging.answer_key import AnswerKey
from ..judging.check import load_module
from ..judging.edits import solutions_in
from ..judging.modules import running_lesson
from ..judging.mutant import Mutant
from ..judging.syntax import Code
from ..paths import Lesson
from .lesson_package import package_of
from .proofs import honest_answers_pass

GRADED_WITH = (101, 102)  # seeds


def variants_of(lesson: Lesson) -> list[Mutant]:
    """Return a lesson's variants, each with its source and what that defines.

    Raises:
        LessonError: an edit does not fit.
    """
    key = package_of(lesson).key
    text = Code(lesson.variants_py.read_text(encoding="utf-8") if lesson.variants_py.is_file() else "")
    with running_lesson(key.source.modules, key.source.folder):
        module = load_module(text, lesson.shown(lesson.variants_py))
    return key.mutants_in(solutions_in(module), text, lesson.variants_py.name)


def variant_problems(key: AnswerKey, variants: Sequence[Mutant]) -> Iterator[str]:
    """Check that every exercise has right answers written another way, and that nobody who writes them is punished."""
    for exercise in key.exercises:
        if not any(variant.exercise == exercise for variant in variants):
            remedy = f'declare some with solution("{exercise}").variant(…) in {key.source.folder}/variants.py'
            yield f"{exercise} has no right answer written another way, such as a loop or einsum: {remedy}"
    yield from honest_answers_pass(key, variants, GRADED_WITH)
