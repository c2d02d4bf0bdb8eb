"""The rules of style that a program can measure, over every lesson."""

import ast
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.lesson import LessonCell, read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.judging.answer_key import AnswerKey
from autograder.judging.mutant import family_of
from autograder.paths import Lesson, find_course

LESSONS = find_course().lessons()
SKELETON = [
    "The idea",
    "By hand",
    "In PyTorch",
    "What can go wrong",
    "What you learned",
    "Questions",
    "Further reading",
]
FILLER = r"\b(simply|just|basically|obviously|of course|note that|important to note|dive in|let's|let us now)\b"
FORBIDDEN_CODE = {
    "a star import": r"import \*",
    "a magic or shell line": r"^\s*[%!]\w",
    "a warning filter": r"filterwarnings|simplefilter",
    "an environment variable": r"os\.environ|getenv",
    "a large negative mask value": r"-\s*1e\d",
    "network": r"\b(requests|urllib|download)\b",
    "an absolute path": r"[\"']/(home|tmp|usr|etc)",
    "a trailing semicolon": r";\s*$",
}
# the seeds' wrong numbers: a softmax that was none, scores, weights and outputs that nobody had computed
WRONG_NUMBERS = (
    r"0\.7071|0\.1464|\b1\.39\b|-0\.07\b|\b1\.58\b|0\.695\b|0\.38, 0\.18, 0\.44|0\.26, 0\.36|0\.0, 0\.95"
    r"|0\.38, 0\.24|0\.21, 0\.39|0\.26, 0\.26, 0\.48|4\.3, 5\.3, 6\.3|5\.5, 6\.5, 7\.5|5\.7, 6\.7, 7\.7"
    r"|0\.4, 0\.3, 0\.05"
)


@pytest.fixture(params=LESSONS, ids=lambda lesson: lesson.name)
def lesson(request: pytest.FixtureRequest) -> Lesson:
    return request.param


@pytest.fixture
def cells(lesson: Lesson) -> list[LessonCell]:
    return read_lesson(lesson)


@pytest.fixture
def key(lesson: Lesson) -> AnswerKey:
    return package_of(lesson).key


def is_code(cell: LessonCell) -> bool:
    return cell.kind in ("setup", "demo", "measured", "exercise", "check")


def lines(cell: LessonCell) -> list[str]:
    return [line for line in cell.text.splitlines() if line.strip() and "SOLUTION" not in line]


def prose(cells: list[LessonCell]) -> str:
    """Return the running text, without code spans, tables, formulas and links."""
    text = "\n\n".join(c.text for c in cells if not is_code(c))
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    return re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|^\|.*$", "", text, flags=re.M)


def headings(cells: list[LessonCell], level: int) -> list[str]:
    return re.findall(rf"^{'#' * level} (.+)$", "\n".join(c.text for c in cells if c.kind == "prose"), re.M)


def test_there_is_one_title_with_the_lessons_number(lesson: Lesson, cells: list[LessonCell]) -> None:
    (title,) = headings(cells, 1)
    assert title.startswith(f"{int(lesson.name[:2])}. ")


def test_the_sections_stand_in_the_agreed_order(lesson: Lesson, cells: list[LessonCell]) -> None:
    warm_up = lesson == LESSONS[0]  # which asks nothing that a person grades
    wanted = [h for h in SKELETON if not (warm_up and h == "Questions")]
    assert headings(cells, 2) == wanted


def test_exercises_are_numbered_through_and_there_are_three_to_five(lesson: Lesson, cells: list[LessonCell]) -> None:
    found = [h.split(":")[0] for h in headings(cells, 3) if h.startswith("Exercise")]
    assert found == [f"Exercise {int(lesson.name[:2])}.{k}" for k in range(1, len(found) + 1)]
    assert 3 <= len(found) <= 6


def test_what_follows_an_exercise_has_a_heading_of_its_own(cells: list[LessonCell]) -> None:
    after = [cells[i + 1].text for i, cell in enumerate(cells[:-1]) if cell.kind == "check"]
    assert [text for text in after if not text.startswith("#")] == []


def test_a_lesson_has_40_to_100_cells(cells: list[LessonCell]) -> None:
    assert 40 <= len(cells) <= 100  # an exercise takes six: task, example, what it shows, hints, stub, check


def test_code_cells_are_short(cells: list[LessonCell]) -> None:
    code = [c for c in cells if c.kind in ("demo", "measured", "exercise")]
    docstring = re.compile(r'""".*?"""', re.S)
    code = [replace(c, text=docstring.sub("", c.text)) for c in code]  # a docstring is read as text
    sizes = sorted(len(lines(c)) for c in code if not c.text.startswith("class "))
    assert statistics.median(sizes) <= 5
    assert sizes[int(0.9 * len(sizes))] <= 15
    assert max(len(lines(c)) for c in code) <= 45


def test_at_most_two_code_cells_stand_in_a_row(cells: list[LessonCell]) -> None:
    pattern = "".join("c" if is_code(c) else "p" for c in cells)
    assert "ccc" not in pattern


def test_all_imports_are_in_the_first_code_cell(cells: list[LessonCell]) -> None:
    code = [c for c in cells if is_code(c)]
    assert code[0].kind == "setup"
    assert len(lines(code[0])) <= 12
    later = [
        node for c in code[1:] for node in ast.walk(ast.parse(c.text)) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert later == []


@pytest.mark.parametrize("call", ["manual_seed(", "set_num_threads(1)", "set_flush_denormal(True)"])
def test_the_first_cell_makes_runs_repeatable(cells: list[LessonCell], call: str) -> None:
    assert call in next(c.text for c in cells if c.kind == "setup")


@pytest.mark.parametrize("what", FORBIDDEN_CODE)
def test_no_code_cell_holds(cells: list[LessonCell], what: str) -> None:
    assert [c.text for c in cells if is_code(c) and re.search(FORBIDDEN_CODE[what], c.text, re.M)] == []


def names_outside_try(text: str) -> set[str]:
    """Return the names that a cell uses, but not those in a `try`, which Run All survives."""
    tree = ast.parse(text)
    tried = {n for t in ast.walk(tree) if isinstance(t, ast.Try) for part in t.body for n in ast.walk(part)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in tried}


def test_demonstrations_do_not_depend_on_exercises(cells: list[LessonCell]) -> None:
    names = {c.name for c in cells if c.kind == "exercise"}
    assert {
        name for c in cells if c.kind in ("demo", "measured") for name in names_outside_try(c.text)
    } & names == set()


def test_prose_has_no_filler(cells: list[LessonCell]) -> None:
    assert re.findall(FILLER, prose(cells), re.I) == []


def test_prose_has_no_emoji_and_no_exclamation(cells: list[LessonCell]) -> None:
    assert re.findall(r"[\U0001F300-\U0001FAFF]|!(?!\[)", prose(cells)) == []


def test_paragraphs_are_readable(cells: list[LessonCell]) -> None:
    paragraphs = [p for p in prose(cells).split("\n\n") if p.strip() and not p.startswith(("#", "-"))]
    assert [p for p in paragraphs if len(p.split()) > 110] == []


def test_hints_have_20_to_50_words_and_hold_no_code_to_paste(cells: list[LessonCell]) -> None:
    for cell in (c for c in cells if c.kind == "hints"):
        for hint in cell.text.split("\n\n"):
            assert 18 <= len(hint.split()) <= 55, hint
            assert "=" not in "".join(re.findall(r"`([^`]*)`", hint)), hint


def test_a_stub_is_typed_and_says_its_shapes(cells: list[LessonCell]) -> None:
    for cell in (c for c in cells if c.kind == "exercise"):
        definition = next(n for n in ast.parse(cell.text).body if isinstance(n, ast.FunctionDef | ast.ClassDef))
        assert definition.name == cell.name
        assert "(" in (ast.get_docstring(definition) or "")
        if isinstance(definition, ast.FunctionDef):
            assert definition.returns is not None
            assert all(a.annotation for a in definition.args.args)


def test_a_message_is_at_most_three_lines_and_not_shared(key: AnswerKey) -> None:
    for exercise in key.exercises:
        messages = list({family_of(name): text for name, text in key.messages(exercise).items()}.values())
        assert len(set(messages)) == len(messages)
        assert [m for m in messages if len(m) > 210 or m[-1] not in ".?"] == []


def test_the_wrong_numbers_of_the_sources_appear_nowhere(lesson: Lesson) -> None:
    for path in (lesson.lesson_py, lesson.solved_ipynb, lesson.hidden_py):
        assert re.findall(WRONG_NUMBERS, re.sub(r'"image/png": "[^"]*"', "", path.read_text())) == []


def test_printed_tensors_are_small(lesson: Lesson) -> None:
    printed = re.findall(r"tensor\(\[\[.*?\]\]", lesson.solved_ipynb.read_text(), re.S)
    assert [t for t in printed if t.count("],") >= 6] == []


def test_a_lesson_ends_with_the_way_on(cells: list[LessonCell]) -> None:
    last = next(c.text for c in reversed(cells) if c.kind == "prose")
    assert "**Next:**" in last or "**The end.**" in last


def test_links_to_other_lessons_lead_to_them(lesson: Lesson, cells: list[LessonCell]) -> None:
    for target in re.findall(r"\]\((\.\./[^)]*)\)", "\n".join(c.text for c in cells)):
        assert (lesson.released_dir / target).is_file(), target


def test_every_question_has_three_levels_of_points(cells: list[LessonCell]) -> None:
    for cell in (c for c in cells if c.kind == "question"):
        levels = [int(n) for n in re.findall(r"^\| (\d) \|", cell.text, re.M)]
        assert levels[0] == cell.points
        assert len(levels) == 3
        assert levels[-1] == 0


def test_lessons_are_found() -> None:
    assert LESSONS, Path.cwd()
