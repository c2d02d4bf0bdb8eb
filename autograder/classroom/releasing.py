"""Pages that a student can fetch while lessons are graded at hand-in. What goes wrong with one stops no other."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import CourseError, GradebookError, escaped, one_line
from ..paths import Course, Lesson
from .attempts import FULL, OPEN
from .deliveries import Files
from .exchange import CollectPlainFiles
from .feedback import NO_PAGE, PAGE_SECONDS, TOO_SLOW, at_most, make_page, release_notice
from .rules import Rules, now_utc, rules_now
from .submissions import SECRET, files_beside


class Pages:
    """Makes pages and has nbgrader release them."""

    def __init__(self, course: Course, exchange: CollectPlainFiles, say: Callable[[str], None]) -> None:
        self._course, self._exchange, self._say = course, exchange, say

    def release(self, target: Course, lesson: Lesson, student: str, rules: Rules) -> str:
        """Make a student's feedback and release it; return which one it is, `open` or `full`.

        Raises:
            GradebookError: the gradebook is away; once it is back, there can be a page.
        """
        page_made = False
        try:
            self._make(target, lesson, student)
            page_made = True
            self._hand_out(target, lesson, student)
        except GradebookError:
            raise
        except (CourseError, OSError) as error:
            why = one_line(str(error))
            self._say(f"{escaped(student)}  {lesson.name}  no feedback: {why}")
            if not page_made:
                self.release_notice(lesson, student, files_beside(target, lesson, student), f"{NO_PAGE}{why}")
            return FULL
        return FULL if rules.explains_hidden(now_utc()) else OPEN

    def _make(self, target: Course, lesson: Lesson, student: str) -> None:
        """Make a page; once more where nbgrader could not, because the gradebook may have been cut off."""
        for last in (False, True):
            try:
                with at_most(PAGE_SECONDS):
                    make_page(target, lesson, student)
                return
            except CourseError as error:
                if last or TOO_SLOW in str(error):
                    raise
                rules_now(self._course, lesson.name)  # raises while the gradebook is away

    def release_notice(self, lesson: Lesson, student: str, files: Files, why: str) -> None:
        """Release a page that says why there is no feedback."""
        try:
            release_notice(self._course, lesson, student, files, why, self._exchange.release)
        except (CourseError, OSError) as error:
            self._say(f"{escaped(student)}  {lesson.name}  not told why: {one_line(str(error))}")

    def _hand_out(self, target: Course, lesson: Lesson, student: str) -> None:
        """Have nbgrader release a page, where the work came through the exchange."""
        if target.feedback_page(lesson, student).with_name(SECRET).is_file():
            self._exchange.release(lesson, student, target.feedback)
