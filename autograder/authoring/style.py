"""The rules of style that a program can measure: what a lesson must have beside being right."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator

from ..judging.answer_key import AnswerKey
from ..judging.edits import family_of
from ..paths import Lesson
from .lesson import LessonCell, at_line, header_of, hints_of, is_code, read_lesson
from .lesson_package import package_of

SECTIONS = (
    *("The idea", "By hand", "In PyTorch", "What can go wrong", "What you learned"),
    *("Questions", "Further reading"),
)
OPTIONAL = "Optional: "  # such a section comes after all that nobody should miss
CELLS, EXERCISES = (40, 100), (3, 6)
HINT_WORDS = (18, 55)
SETUP_LINES, MEDIAN_LINES, MOST_LINES_OF_NINE_IN_TEN, MOST_LINES = 12, 5, 15, 60
PARAGRAPH_WORDS, MESSAGE_CHARACTERS = 110, 210
WRONG_ANSWERS = 4  # three that people write, and one that sounds right
SETUP_CALLS = ("manual_seed(", "set_num_threads(1)", "set_flush_denormal(True)")
FILLER = r"\b(simply|just|basically|obviously|of course|note that|important to note|dive in|let's|let us now)\b"
PICTURES_AND_CRIES = r"[\U0001F300-\U0001FAFF]|!(?!\[)"
FORBIDDEN = {
    "a star import": r"import \*",
    "a magic or a shell line": r"^\s*[%!]\w",
    "a warning filter": r"filterwarnings|simplefilter",
    "an environment variable": r"os\.environ|getenv",
    "a large negative number as a mask": r"-\s*1e\d",
    "the network": r"\b(requests|urllib|download)\b",
    "an absolute path": r"[\"']/(home|tmp|usr|etc)",
    "a semicolon at the end of a line": r";\s*$",
}
Problem = tuple[int, str]  # a line of lesson.py, or 0, and what is wrong there


def style_problems(lesson: Lesson) -> Iterator[str]:
    """Yield what breaks a rule of style, with file and line."""
    cells, where = read_lesson(lesson), lesson.shown(lesson.lesson_py)
    number = int(lesson.name[:2])
    for rule in (outline_problems, code_problems, prose_problems, exercise_problems):
        yield from (f"{at_line(where, line)}: {problem}" for line, problem in rule(cells, number))
    yield from message_problems(package_of(lesson).key)


def outline_problems(cells: list[LessonCell], number: int) -> Iterator[Problem]:
    """Yield what is wrong with a lesson's length, its headings and its end."""
    if not CELLS[0] <= len(cells) <= CELLS[1]:
        yield 0, f"cells: {len(cells)}, and a lesson has {CELLS[0]} to {CELLS[1]}"
    titles = headings(cells, 1)
    if len(titles) != 1 or not titles[0].startswith(f"{number}. "):
        yield 0, f"its one title begins with `# {number}. `"
    asks = any(cell.kind == "question" for cell in cells)
    wanted = [name for name in SECTIONS if asks or name != "Questions"]
    found = headings(cells, 2)
    optional = [name for name in found if name.startswith(OPTIONAL)]
    if found != [*wanted[:-1], *optional, wanted[-1]]:
        yield 0, f"its sections are, in this order, with optional ones before the last: {', '.join(wanted)}"
    exercises = [heading.split(":")[0] for heading in headings(cells, 3) if heading.startswith("Exercise")]
    wrong = next((e for k, e in enumerate(exercises, 1) if e != f"Exercise {number}.{k}"), "")
    if wrong:
        yield 0, f"exercises are numbered through, from `### Exercise {number}.1: …`, and {wrong} is not the next one"
    if not EXERCISES[0] <= len(exercises) <= EXERCISES[1]:
        yield 0, f"exercises: {len(exercises)}, and a lesson has {EXERCISES[0]} to {EXERCISES[1]}"
    last = next((cell for cell in reversed(cells) if cell.kind == "prose"), None)
    if last and "**Next:**" not in last.text and "**The end.**" not in last.text:
        yield last.line, "the last cell leads on with `**Next:**`, or says `**The end.**`"


def code_problems(cells: list[LessonCell], _number: int) -> Iterator[Problem]:
    """Yield what is wrong with code: length, order, imports, what it depends on."""
    code = [cell for cell in cells if is_code(cell)]
    sizes = sorted(len(code_lines(c)) for c in code if c.kind != "setup" and not c.text.startswith("class "))
    ninth_of_ten = sizes[int(0.9 * len(sizes))] if sizes else 0
    if sizes and (statistics.median(sizes) > MEDIAN_LINES or ninth_of_ten > MOST_LINES_OF_NINE_IN_TEN):
        yield 0, f"half of the code cells have at most {MEDIAN_LINES} lines, nine in ten {MOST_LINES_OF_NINE_IN_TEN}"
    for cell in code:
        if len(code_lines(cell)) > MOST_LINES:
            yield cell.line, f"more than {MOST_LINES} lines of code: put some into a module beside lesson.py"
        for what, pattern in FORBIDDEN.items():
            if re.search(pattern, cell.text, re.M):
                yield cell.line, f"{what} has no place in a lesson"
    for one, two, three in zip(cells, cells[1:], cells[2:], strict=False):
        if all(is_code(cell) or cell.kind == "check" for cell in (one, two, three)):
            yield three.line, "a third code cell in a row: say first what the second one showed"
    yield from setup_problems(code)
    exercises = {cell.name for cell in cells if cell.kind == "exercise"}
    for cell in (c for c in code if c.kind in ("demo", "measured")):
        for name in sorted(names_outside_try(cell.text) & exercises):
            yield cell.line, f"a demonstration uses the exercise {name}: use PyTorch's function, or a `try`"


def setup_problems(code: list[LessonCell]) -> Iterator[Problem]:
    """Yield what is wrong with the first code cell, and with imports elsewhere."""
    setup = code[0]
    if setup.kind != "setup" or len(code_lines(setup)) > SETUP_LINES:
        yield setup.line, f"the first code cell is the setup, of at most {SETUP_LINES} lines"
    for call in SETUP_CALLS:
        if call not in setup.text:
            yield setup.line, f"the setup lacks `{call}`, so that runs can be repeated"
    for cell in code[1:]:
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(ast.parse(cell.text))):
            yield cell.line, "an import outside of the setup"


def prose_problems(cells: list[LessonCell], _number: int) -> Iterator[Problem]:
    """Yield what is wrong with the running text."""
    for cell in (cell for cell in cells if cell.kind in ("prose", "hints", "question")):
        text = running_text(cell.text)
        for word in re.findall(FILLER, text, re.I):
            yield cell.line, f"{word!r} is filler"
        if re.search(PICTURES_AND_CRIES, text):
            yield cell.line, "an exclamation mark or an emoji"
        for paragraph in text.split("\n\n"):
            if len(paragraph.split()) > PARAGRAPH_WORDS and not paragraph.startswith(("#", "-")):
                yield cell.line, f"a paragraph of {len(paragraph.split())} words: at most {PARAGRAPH_WORDS}"


def exercise_problems(cells: list[LessonCell], _number: int) -> Iterator[Problem]:
    """Yield what is wrong with exercises: hints, stubs, what follows them, and the points of questions."""
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell.kind == "hints":
            yield from hint_problems(cell)
        if cell.kind == "exercise":
            yield from stub_problems(cell)
        if cell.kind == "check" and after and not after.text.startswith("#"):
            yield after.line, "what follows an exercise has a heading of its own"
        if cell.kind == "question":
            yield from rubric_problems(cell)


def rubric_problems(cell: LessonCell) -> Iterator[Problem]:
    """Yield what the person lacks who grades a question."""
    tables = [re.findall(r"^\| (\d) \|", table, re.M) for table in re.split(r"\n\s*\n", cell.text) if "|---" in table]
    earned, wrong = tables if len(tables) == 2 else ([], [])
    if set(earned) != {"1"} or cell.points not in (0, len(earned)):
        yield cell.line, f"{header_of(cell)} has a table with one row for each of its {cell.points} points"
    if len(wrong) < WRONG_ANSWERS:
        yield cell.line, f"{header_of(cell)} has a table of {WRONG_ANSWERS} answers that are not right"


def hint_problems(cell: LessonCell) -> Iterator[Problem]:
    """Yield what is wrong with the three hints of an exercise."""
    for hint in hints_of(cell):
        if not HINT_WORDS[0] <= len(hint.split()) <= HINT_WORDS[1]:
            words = f"{HINT_WORDS[0]} to {HINT_WORDS[1]}"
            yield cell.line, f"a hint of {cell.name} has {len(hint.split())} words, and not {words}: {hint[:40]}…"
        if "=" in "".join(re.findall(r"`([^`]*)`", hint)):
            yield cell.line, f"a hint of {cell.name} holds code that can be pasted: {hint[:40]}…"


def stub_problems(cell: LessonCell) -> Iterator[Problem]:
    """Yield what an exercise's stub does not say."""
    definition = next((n for n in ast.parse(cell.text).body if isinstance(n, ast.FunctionDef | ast.ClassDef)), None)
    if definition is None or definition.name != cell.name:
        yield cell.line, f"the exercise {cell.name} defines a function or class of that name first"
        return
    if "(" not in (ast.get_docstring(definition) or ""):
        yield cell.line, f"the docstring of {cell.name} says the shapes, in parentheses"
    if isinstance(definition, ast.FunctionDef):
        types = [definition.returns, *(argument.annotation for argument in definition.args.args)]
        if not all(types):
            yield cell.line, f"{cell.name} has a type for each argument and for its result"


def message_problems(key: AnswerKey) -> Iterator[str]:
    """Yield messages of mistakes that are too long, have no end, or are said of two mistakes."""
    for exercise in key.exercises:
        messages = list({family_of(name): text for name, text in key.messages(exercise).items()}.values())
        for text in messages:
            if len(text) > MESSAGE_CHARACTERS or text[-1] not in ".?":
                yield f"{exercise}: a message has one to three lines and ends in a period or a question mark: {text}"
            if messages.count(text) > 1:
                yield f"{exercise}: two mistakes have the same message: {text}"


def headings(cells: list[LessonCell], level: int) -> list[str]:
    """Return a lesson's headings of a level, in order."""
    text = "\n".join(cell.text for cell in cells if cell.kind == "prose")
    return re.findall(rf"^{'#' * level} (.+)$", text, re.M)


def code_lines(cell: LessonCell) -> list[str]:
    """Return a cell's lines of code. A docstring is read as text."""
    text = re.sub(r'""".*?"""', "", cell.text, flags=re.S)
    return [line for line in text.splitlines() if line.strip() and "SOLUTION" not in line]


def running_text(text: str) -> str:
    """Return prose without code, tables, formulas and links."""
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    return re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|^\|.*$", "", text, flags=re.M)


def names_outside_try(text: str) -> set[str]:
    """Return the names that a cell uses, but not those in a `try`, which Run All survives."""
    tree = ast.parse(text)
    tried = {n for t in ast.walk(tree) if isinstance(t, ast.Try) for part in t.body for n in ast.walk(part)}
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in tried}
