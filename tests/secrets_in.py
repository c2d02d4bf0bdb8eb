"""The search for what students must not be given: lines of solutions, hidden checks, mistakes, rubrics."""

from functools import lru_cache

from autograder.authoring.lesson import BEGIN, END, read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.paths import Course

SHORTEST = 30  # characters; a shorter line of a solution can stand in a lesson's prose too


def leaked_lines(course: Course, text: str) -> set[str]:
    """Return the lines of solutions that a text holds and no lesson shows."""
    return {line for line in secret_lines(course) if line in text}


def leaked_secrets(course: Course, text: str, *, quoted: bool = False) -> list[str]:
    """Return the hidden checks' titles, the mistakes' messages and the rubrics that a text holds.

    With `quoted`, a message counts as it is in hidden.py.
    """
    return [secret for secret in secrets(course, quoted) if secret in text]


@lru_cache
def secret_lines(course: Course) -> frozenset[str]:
    return frozenset(solution_lines(course) - demonstrated(course))


def solution_lines(course: Course) -> set[str]:
    """Return every line between solution markers that is long enough to mean something."""
    lines, inside = set(), False
    for lesson in course.lessons():
        for line in lesson.lesson_py.read_text(encoding="utf-8").splitlines():
            inside = (inside or BEGIN in line) and END not in line
            if inside and BEGIN not in line and len(line.strip()) >= SHORTEST:
                lines.add(line.strip())
    return lines


def demonstrated(course: Course) -> set[str]:
    """Return what lessons show outside of exercises: a later lesson may start from what an earlier one asked for."""
    shown = [
        c.text for lesson in course.lessons() for c in read_lesson(lesson) if c.kind in ("demo", "measured", "setup")
    ]
    shown += [path.read_text(encoding="utf-8") for lesson in course.lessons() for path in lesson.module_files]
    return {line.split("  #")[0].strip() for text in shown for line in text.splitlines()}


@lru_cache
def secrets(course: Course, quoted: bool) -> tuple[str, ...]:
    found = []
    for lesson in course.lessons():
        key = package_of(lesson).key
        rubrics = [c.text.splitlines()[0] for c in read_lesson(lesson) if c.kind == "question"]
        assert rubrics or lesson == course.lessons()[0]  # the warm-up has no question
        messages = [f'"""{m.message}' if quoted else m.message for m in key.mistakes]
        found += [*rubrics, *messages, *(check.title for check in key.hidden)]
    return tuple(found)
