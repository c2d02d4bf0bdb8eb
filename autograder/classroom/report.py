"""One page about a class and a lesson: points, exercises, known mistakes, what needs a person. Offline, and as CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

from ..authoring.lesson_package import package_of
from ..errors import CourseError, command
from ..grading.grade import RECORD
from ..judging.answer_key import AnswerKey
from ..judging.cell_metadata import CHECK_PREFIX, QUESTION_PREFIX
from ..paths import Course, Lesson
from ..student.titles import titles_in
from .archives import noted_left_out
from .attempts import changes, flagged, read_attempts
from .board_state import Helped, message_words, messages_that_helped
from .board_store import BoardStore
from .exports import escape_formula
from .gradebook import SubmissionScore, open_gradebook, points_by_cell, scores_by_student
from .rules import Rules, duration, rules_now
from .run import QUESTIONS_WAIT, is_current, needing_attention
from .submissions import exercise_cell, why_not_gradable
from .summary import with_code
from .writer import read_notebook_record


@dataclass(frozen=True)
class Student:
    """One row of the class."""

    name: str
    points: float | None  # earned, None where nothing was graded
    of: float  # how many there are
    verdicts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # per exercise what the judge wrote down
    # the points of each exercise's check cell and each question, by grade id; None where a person has to give them
    cells: Mapping[str, float | None] = field(default_factory=dict)
    penalty: float = 0.0  # what is taken off for being late
    waits: str = ""  # why a person is needed, '' where nobody is
    page: str = ""  # the feedback page as seen from the report, '' where there is none
    seconds: float = 0.0  # how long the submission ran
    seed: int = 0  # what its inputs were drawn from
    handed_in: str = ""  # when, in the course's own time; '' where that is not known
    late: str = ""  # how late it was handed in, in words; '' where it was not
    attempts: tuple[str, ...] = ()  # what each attempt earned and changed, where they were graded at hand-in


@dataclass(frozen=True)
class UnnamedMistake:
    """A mistake that has no name yet: answers that came out the same, in one run."""

    students: list[Student]  # who made it
    told: str  # what they were told
    example: str  # what the first of them wrote


@dataclass
class Exercise:
    """How a class did in one exercise."""

    name: str
    title: str  # its name after its number in the lesson
    points: int  # how many it is worth
    solved: int = 0  # how many students have passed all its checks
    started: int = 0  # how many have begun
    mistakes: dict[str, list[Student]] = field(default_factory=dict)  # who made which known mistake
    unnamed: list[UnnamedMistake] = field(default_factory=list)  # wrong answers that no message covers

    @property
    def by_frequency(self) -> list[tuple[str, list[Student]]]:
        """Known mistakes, the most frequent first."""
        return sorted(self.mistakes.items(), key=lambda item: (-len(item[1]), item[0]))


def make_report(course: Course, lesson: Lesson) -> list[Path]:
    """Write coursework/reports/<lesson>.html and .csv; return their paths."""
    key, students = package_of(lesson).key, read_class(course, lesson)
    page, table = (course.reports / f"{lesson.name}{suffix}" for suffix in (".html", ".csv"))
    course.reports.mkdir(parents=True, exist_ok=True)
    exercises = exercises_of(key, students, titles_in(lesson.released_dir / lesson.notebook_name))
    for exercise in exercises:
        exercise.unnamed = unnamed_mistakes(course, lesson, exercise.name, students)
    rules = rules_now(course, lesson.name)
    left_out = [line for lines in noted_left_out(course.left_out(lesson)).values() for line in lines]
    helped, missing = messages_that_helped(BoardStore.of(course).every_try(lesson.name)), absent(course, students)
    page.write_text(html_of(lesson, key, students, exercises, helped, rules, missing, left_out), encoding="utf-8")
    write_csv(table, exercises, students)
    return [page, table]


def read_class(course: Course, lesson: Lesson) -> list[Student]:
    """Read everybody who handed something in."""
    names, rules = set(course.students(lesson)), rules_now(course, lesson.name)
    with open_gradebook(course) as gradebook:
        known = scores_by_student(gradebook, lesson.name)
        cells = points_by_cell(gradebook, lesson.name) if known else {}
        everybody = sorted(names | known.keys())
        return [read_student(course, lesson, name, known.get(name), cells.get(name, {}), rules) for name in everybody]


def absent(course: Course, students: Sequence[Student]) -> list[str]:
    """Return who is in the gradebook and has not handed in."""
    with open_gradebook(course) as gradebook:
        return sorted({student.id for student in gradebook.students} - {student.name for student in students})


def read_student(
    course: Course,
    lesson: Lesson,
    name: str,
    submission: SubmissionScore | None,
    cells: Mapping[str, float | None],
    rules: Rules,
) -> Student:
    """Join what the gradebook and the graded notebook say about a student."""
    record = read_notebook_record(course.graded_notebook(lesson, name), RECORD)
    reason = "" if is_current(course, lesson, name, package_of(lesson)) else why_not_gradable(course, lesson, name)
    if submission is None or not record or reason:
        most = float(sum(package_of(lesson).key.points().values()))
        return Student(name, None, most, waits=reason or f"not graded yet: `{command('grade')}`")
    page, attempts = course.feedback_page(lesson, name), read_attempts(course, lesson, name, rules)
    waits = needing_attention(course, lesson, submission)
    return Student(
        name,
        submission.score,
        submission.max_score,
        record.get("verdicts", {}),
        cells,
        submission.penalty,
        waits="; ".join([*waits, *flagged(attempts, waits)]),
        page=f"../{page.relative_to(course.coursework).as_posix()}" if page.exists() else "",
        seconds=float(record.get("seconds", 0.0)),
        seed=record.get("seed", 0),
        handed_in=rules.shown(submission.timestamp) if submission.timestamp else "",
        late=duration(submission.seconds_late) if submission.seconds_late else "",
        attempts=tuple(changes(attempts)),
    )


def exercises_of(
    key: AnswerKey, students: Sequence[Student], titles: Mapping[str, str] = MappingProxyType({})
) -> list[Exercise]:
    """Count per exercise who solved it and which known mistakes were made by whom."""
    exercises = {name: Exercise(name, titles.get(name, name), points) for name, points in key.points().items()}
    for student in students:
        for name, verdict in student.verdicts.items():
            if name not in exercises:
                continue
            exercises[name].solved += bool(verdict["passed"])
            exercises[name].started += bool(verdict["started"])
            if verdict["mistake"]:
                exercises[name].mistakes.setdefault(verdict["mistake"], []).append(student)
    return list(exercises.values())


def unnamed_mistakes(
    course: Course, lesson: Lesson, exercise: str, students: Sequence[Student]
) -> list[UnnamedMistake]:
    """Group wrong answers that nobody has named: the same inputs gave the same values. The most frequent come first."""
    groups: dict[tuple[int, str], list[Student]] = {}
    for student in students:
        key = student.verdicts.get(exercise, {}).get("unknown")
        if key:
            groups.setdefault((student.seed, key), []).append(student)
    mistakes = []
    for who in sorted(groups.values(), key=lambda some: (-len(some), some[0].name)):
        try:
            example = exercise_cell(course, lesson, who[0].name, exercise)
        except CourseError as error:
            example = f"# {error}"
        mistakes.append(UnnamedMistake(who, str(who[0].verdicts[exercise].get("told", "")), example))
    return mistakes


def html_of(
    lesson: Lesson,
    key: AnswerKey,
    students: Sequence[Student],
    exercises: Sequence[Exercise],
    helped: Sequence[Helped] = (),
    rules: Rules | None = None,
    missing: Sequence[str] = (),
    left_out: Sequence[str] = (),
) -> str:
    """Return the page."""
    messages = {e.name: {n: with_code(text) for n, text in key.messages(e.name).items()} for e in exercises}
    pages = Environment(loader=PackageLoader("autograder.classroom", "pages"), autoescape=select_autoescape(["html"]))
    graded = [s for s in students if s.points is not None]
    page: str = pages.get_template("report.html").render(
        title=key.source.title,
        due=rules.due_in_words() if rules else "",
        extensions={s: rules.shown(when) for s, when in sorted(rules.extensions.items())} if rules else {},
        drafting=command(f"mistake --lesson {lesson.name} --exercise … --from student"),
        with_code=with_code,
        students=students,
        missing=missing,
        left_out=left_out,
        graded=graded,
        counts=counts_of(graded),
        columns=columns_of(exercises, students),
        waiting=[s for s in students if s.waits not in ("", QUESTIONS_WAIT)],
        ungraded=sum(QUESTIONS_WAIT in s.waits for s in students),
        exercises=exercises,
        titles={e.name: e.title for e in exercises},
        messages=messages,
        helped=[
            (h, with_code(message_words(h.message, key.messages(h.exercise)))) for h in helped if h.exercise in messages
        ],
        seconds=sum(s.seconds for s in graded),
    )
    return page


def counts_of(graded: Sequence[Student]) -> list[tuple[int, int]]:
    """Return for each number of points, rounded, how many students have it."""
    counts = Counter(round(student.points or 0) for student in graded)
    most = max([*counts, *(round(student.of) for student in graded)], default=0)
    return [(points, counts[points]) for points in range(most + 1)]


def columns_of(exercises: Sequence[Exercise], students: Sequence[Student]) -> list[tuple[str, str]]:
    """Return the cells that carry points, each with its heading: exercises with what they are worth, then questions."""
    checks = [(f"{CHECK_PREFIX}{e.name}", f"{e.title} ({e.points})") for e in exercises]
    questions = sorted({cell for s in students for cell in s.cells if cell.startswith(QUESTION_PREFIX)})
    return [*checks, *((cell, cell.replace(QUESTION_PREFIX, "question ")) for cell in questions)]


def write_csv(path: Path, exercises: Sequence[Exercise], students: Sequence[Student]) -> None:
    """Write one row per student: points, points per exercise and question, mistakes, what needs a person."""
    cells, names = [cell for cell, _ in columns_of(exercises, students)], [e.name for e in exercises]
    own = [f"{cell.removeprefix(CHECK_PREFIX)} points" for cell in cells]
    rest_of_row = ("handed in", "late", "penalty", "attempts", "note")
    columns = ["student", "points", "of", *own, *(f"{n} mistake" for n in names), *rest_of_row]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for s in students:
            mistakes = [s.verdicts.get(name, {}).get("mistake") for name in names]
            rest = [s.handed_in, s.late, s.penalty or None, len(s.attempts) or None, s.waits]
            row = [s.name, s.points, s.of, *map(s.cells.get, cells), *mistakes, *rest]
            writer.writerow(["" if cell is None else escape_formula(cell) for cell in row])
