"""The rules of style that `verify` tells authors, over every lesson, and that each of them can be broken."""

import re

import pytest

from autograder.authoring.style import style_problems
from autograder.paths import Course, Lesson, find_course

from .conftest import LESSON

LESSONS = find_course().lessons()
# by what is said: a piece of the lesson, and what breaks the rule in its place
BREACHES = {
    "exercises: [0-9]+": ("### Exercise 2", "### Task 2"),
    "its one title begins with": ("# # 2. ", "# # 3. "),
    "its sections are, in this order": ("# ## By hand", "# ## Manually"),
    "exercises are numbered through": ("### Exercise 2.2", "### Exercise 2.3"),
    "the last cell leads on": ("**Next:**", "Next:"),
    "an absolute path has no place": ("import torch\n", "import torch\n\nwhere = '/home/me'\n"),
    "the setup lacks `manual_seed": ("torch.manual_seed(0)\ntorch.set_num", "torch.set_num"),
    "an import outside of the setup": ("shares * norms\n", "import math\n"),
    "a demonstration uses the exercise attend": ("shares * norms\n", "attend(1, 2, 3)\n"),
    "'simply' is filler": ("## By hand\n", "## By hand\n#\n# This is simply so.\n"),
    "an exclamation mark": ("## By hand\n", "## By hand\n#\n# Look here!\n"),
    "a paragraph of 120 words": ("## By hand\n", f"## By hand\n#\n# {'word ' * 120}\n"),
    "what follows an exercise has a heading": ("# %% check attend\n", "# %% check attend\n\n# %% [markdown]\n# So.\n"),
    "one row for each of its 2 points": ("\n# | 1 | Separates", "\n# | 2 | Separates"),
    "a table of 4 answers that are not right": ("| 0 |", "| none |"),
    "more than 60 lines of code": ("shares * norms\n", "shares * norms\n" * 61),
    "a third code cell in a row": ("shares * norms\n", "shares * norms\n\n# %%\n1\n\n# %%\n2\n"),
    "attend has a type for each argument": ("def attend(query: Tensor", "def attend(query"),
}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_keeps_the_rules(lesson: Lesson) -> None:
    assert list(style_problems(lesson)) == []


def headings(lesson: Lesson) -> list[str]:
    return re.findall(r"^# #{2,3} (.+)$", lesson.lesson_py.read_text(encoding="utf-8"), re.M)


def test_every_exercise_that_a_lesson_mentions_exists() -> None:
    exist = {heading.split()[1].rstrip(":") for lesson in LESSONS for heading in headings(lesson) if ": " in heading}
    for path in find_course().template.parent.rglob("*.py"):
        lists = re.findall(r"exercises?\s((?:\d+\.\d+(?:, | and | or | to )?)+)", path.read_text("utf-8"), re.I)
        assert set(re.findall(r"\d+\.\d+", " ".join(lists))) <= exist, path


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_sitting_ends_before_a_section_that_exists(lesson: Lesson) -> None:
    for section in re.findall(r'before "([^"]+)"', lesson.lesson_py.read_text(encoding="utf-8").split("# %%")[1]):
        assert any(heading.startswith(section) for heading in headings(lesson)), section


@pytest.mark.parametrize("told", BREACHES)
def test_what_breaks_a_rule_is_told(classroom: Course, told: str) -> None:
    lesson, (old, new) = classroom.lesson(LESSON), BREACHES[told]
    text = lesson.lesson_py.read_text()
    assert old in text
    lesson.lesson_py.write_text(text.replace(old, new))
    try:
        problems = list(style_problems(lesson))
    finally:
        lesson.lesson_py.write_text(text)
    assert [problem for problem in problems if re.search(told, problem)]


@pytest.mark.parametrize("told", ["has 5 words, and not", "can be pasted"])
def test_hints_are_neither_short_nor_to_be_pasted(classroom: Course, told: str) -> None:
    lesson = classroom.lesson(LESSON)
    text = lesson.lesson_py.read_text()
    lesson.lesson_py.write_text(re.sub(r"(# %% hints attend .*\n)# .*\n", r"\1# Try `x = 1` now.\n", text))
    try:
        assert any(told in problem for problem in style_problems(lesson))
    finally:
        lesson.lesson_py.write_text(text)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_printed_tensors_are_small(lesson: Lesson) -> None:
    printed = re.findall(r"tensor\(\[\[.*?\]\]", lesson.solved_ipynb.read_text(), re.S)
    assert [text for text in printed if text.count("],") >= 6] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_links_to_other_lessons_lead_to_them(lesson: Lesson) -> None:
    for target in re.findall(r"\]\((\.\./[^)]*)\)", lesson.lesson_py.read_text()):
        assert (lesson.released_dir / target).is_file(), target
