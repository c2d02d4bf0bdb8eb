"""The table in solutions/COVERAGE.md: every section that it names exists."""

import re

import pytest

from autograder.paths import find_course

COURSE = find_course()
ROWS = [
    tuple(cell.strip() for cell in line.strip("|").split("|"))
    for line in (COURSE.root / "solutions/COVERAGE.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\|[^|]+\| \d\d \|", line)
]
HEADINGS = {
    lesson.name[:2]: re.findall(r"^# #{2,3} (.+)$", lesson.lesson_py.read_text(encoding="utf-8"), re.M)
    for lesson in COURSE.lessons()
}


def test_the_table_was_read() -> None:
    assert len(ROWS) > 50
    assert {lesson for _, lesson, _ in ROWS} == {f"{number:02}" for number in range(1, 13)}


@pytest.mark.parametrize(("item", "lesson", "section"), ROWS)
def test_the_section_exists(item: str, lesson: str, section: str) -> None:
    assert section in HEADINGS[lesson], item
