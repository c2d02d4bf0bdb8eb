"""What is on a feedback page: nbgrader's preprocessors for it, as nbgrader_config.py lists them."""

from __future__ import annotations

import copy
import datetime
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbconvert import HTMLExporter
from nbconvert.exporters.html import WidgetsDataTypeFilter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbformat.v4 import new_output
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from nbgrader.utils import determine_grade
from pygments.formatters import HtmlFormatter

from ..grading.grade import RECORD, RUBRIC_TAG
from ..judging.cell_metadata import checked_exercise, grade_id_of, is_graded
from ..paths import Course
from ..student.titles import titles_in
from .attempts import Attempt, about, counting, read_attempts
from .gradebook import open_gradebook
from .rules import BEST, Rules, duration, now_utc, rules_now
from .sanitize import IN_HEAD
from .summary import WAITING, summary_cell, summary_rows

STYLE, DARK = Path(__file__).parent / "pages" / "feedback.css", "github-dark"
WITHOUT_ALT, ALT = re.compile(r"<img\b(?![^>]*\balt=)"), '<img alt="A picture without a description"'
MOST_PAGE_BYTES = 5_000_000  # of a page, each of which stays in the exchange; a lesson's has less than a quarter
LEFT_OUT = "[This is left out: the page would be too large. Your notebook has it.]"


class CompiledTemplates(BytecodeCache):  # type: ignore[misc]
    """Keeps nbgrader's templates compiled, for every page that this process makes."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket with what is kept of it. Jinja compares the template's checksum."""
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._kept[bucket.key] = bucket.bytecode_to_string()


COMPILED = CompiledTemplates()


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """Make a page as HTMLExporter does, in less than half the time.

    That one compiles the templates for every page, and parses the whole page once more to give pictures a text and
    JupyterLab's elements, of which there are none here, a place in the order of the tab key.
    """

    optimistic_validation = True  # of the notebook, once, and not after each of the six steps before

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = COMPILED
        return environment

    def from_notebook_node(self, nb: Any, resources: Any = None, **options: Any) -> tuple[str, Any]:
        """Return a notebook as HTML, with a text for each picture that has none, and nbconvert's resources.

        One that would be too large loses its texts and outputs.
        """
        page, about = self._page_of(nb, resources, **options)
        if len(page.encode("utf-8")) > MOST_PAGE_BYTES:
            page, about = self._page_of(without_texts(nb), resources, **options)
        return WITHOUT_ALT.sub(ALT, page), about

    def _page_of(self, nb: Any, resources: Any, **options: Any) -> tuple[str, Any]:
        resources = self._init_resources(resources)
        chosen = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("filter_data_type", chosen)
        made: tuple[str, Any] = TemplateExporter.from_notebook_node(self, nb, resources, **options)
        return made


def without_texts(nb: Any) -> Any:
    """Return a notebook in which a sentence takes the place of all texts and outputs, but for the cards of checks."""
    short = copy.deepcopy(nb)
    for cell in short.cells:
        if cell.cell_type != "code":
            cell.source = LEFT_OUT
        elif cell.outputs and not is_graded(cell):
            cell.outputs = [new_output("stream", text=LEFT_OUT)]
    return short


class DropRubrics(NbGraderPreprocessor):  # type: ignore[misc]
    """Take out of a feedback page what only graders should read."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Drop every cell that carries the tag."""
        nb.cells = [cell for cell in nb.cells if RUBRIC_TAG not in cell.metadata.get("tags", [])]
        return nb, resources


class OwnPoints(GetGrades):  # type: ignore[misc]
    """Put in the gradebook's points, as GetGrades does; an attempt that does not count has its own."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Put in the points of every cell, and of all together."""
        info = resources["nbgrader"]
        own, counts, _ = attempt_in(self.config, nb, info)
        if own is None or counts:
            graded: tuple[Any, Any] = super().preprocess(nb, resources)
            return graded
        for cell in filter(is_graded, nb.cells):
            score, most = determine_grade(cell)
            cell.metadata.nbgrader |= {"score": score or 0.0, "points": most}
        info |= {"score": own.points, "max_score": own.of, "late_penalty": own.penalty}
        return nb, resources


class WithholdHidden(NbGraderPreprocessor):  # type: ignore[misc]
    """While a lesson can be handed in, show of its hidden checks only how many passed, as its rules say."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Put cards and reasons in place that say no more."""
        if not explains_hidden(self.config, resources["nbgrader"]):
            verdicts = nb.metadata.get(RECORD, {}).get("verdicts", {})
            for cell in nb.cells:
                verdict = verdicts.get(checked_exercise(cell), {})
                if shown := verdict.get("open"):
                    verdict["told"] = shown["told"]
                    for output in cell.outputs:
                        output["data"]["text/html"] = shown["card"]
        return nb, resources


class SummaryFirst(NbGraderPreprocessor):  # type: ignore[misc]
    """Begin a feedback page with every exercise, its points and the reason. Runs after the points are put in."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Put the summary in front, and hide the list that it takes the place of."""
        info = resources["nbgrader"]
        own, counts, words = attempt_in(self.config, nb, info)
        course = Course(Path(self.config.CourseDirectory.root))
        rules, lesson = rules_now(course, info["assignment"]), course.lesson(info["assignment"])
        if own is None or counts:
            with open_gradebook(course) as gradebook:
                notebook = gradebook.find_submission_notebook(info["notebook"], info["assignment"], info["student"])
                waiting = {grade.name for grade in notebook.grades if grade.needs_manual_grade}
                handed_in = notebook.assignment
                words += times_of(rules, info["student"], handed_in.timestamp, handed_in.total_seconds_late)
        else:
            waiting = {grade_id_of(cell) for cell in filter(is_graded, nb.cells) if determine_grade(cell)[0] is None}
            words += times_of(rules, info["student"], own.when, 0.0)
        words.append(f"Graded {rules.shown(graded_at(self.config, info))}.")
        titles = titles_in(lesson.released_dir / lesson.notebook_name)
        nb.cells.insert(0, summary_cell(list(summary_rows(nb, waiting, titles)), info["late_penalty"], words))
        resources.setdefault("inlining", {}).setdefault("css", []).append(head_of_page(waiting))
        return nb, resources


def head_of_page(waiting: Iterable[str]) -> str:
    """Return what a page's head needs: it goes where nbgrader's template leaves room, in an element of style.

    Cells that wait have no points yet; nbgrader would show 0.
    """
    headings = [f'a[name="{escape(name)}"] ~ .panel-heading' for name in waiting]
    unknown = [
        f"{heading} .pull-right {{ display: none; }} {heading}::after {{ content: '{WAITING}'; float: right; }}"
        for heading in headings
    ]
    dark = f"@media (prefers-color-scheme: dark) {{ {HtmlFormatter(style=DARK).get_style_defs('.highlight')} }}"
    return f"</style>{IN_HEAD}<style>{dark}{STYLE.read_text(encoding='utf-8')}{''.join(unknown)}"


def graded_at(config: Any, info: Any) -> datetime.datetime:
    """Return when a submission was graded, UTC: when its graded notebook was written."""
    names = info["student"], info["assignment"], f"{info['notebook']}.ipynb"
    written = Path(config.CourseDirectory.autograded_directory, *names).stat().st_mtime
    return datetime.datetime.fromtimestamp(written, datetime.UTC).replace(tzinfo=None)


def attempt_in(config: Any, nb: Any, info: Any) -> tuple[Attempt | None, bool, list[str]]:
    """Return which attempt a graded notebook is, whether it counts, and what to say of it; None if graded otherwise."""
    course = Course(Path(config.CourseDirectory.root))
    lesson, rules = course.lesson(info["assignment"]), rules_now(course, info["assignment"])
    attempts, best = read_attempts(course, lesson, info["student"], rules), rules.counts == BEST
    apart = Path(config.CourseDirectory.autograded_directory) != course.autograded
    own, words = about(attempts, nb.metadata.get(RECORD, {}).get("submission", ""), best, apart)
    return own, own is not None and own is counting(attempts, best), words


def explains_hidden(config: Any, info: Any) -> bool:
    """Say whether a page may name hidden checks. Without a due date it may, unless attempts are graded at hand-in."""
    course = Course(Path(config.CourseDirectory.root))
    rules = rules_now(course, info["assignment"])
    served = bool(read_attempts(course, course.lesson(info["assignment"]), info["student"]))
    return rules.explains_hidden(now_utc()) or (rules.due is None and not served)


def times_of(rules: Rules, student: str, handed_in: datetime.datetime | None, late: float) -> list[str]:
    """Return what to say of when something was handed in."""
    due = rules.due_for(student)
    until = [f"Due {rules.shown(due)}."] if due else []
    if handed_in is None:
        return until
    behind = f", {duration(late)} late" if late > 0 else ""
    return [*until, f"Handed in {rules.shown(handed_in)}{behind}."]
