"""The course as nbgrader sees it. `nbgrader` and Formgrader read this file; so does `python -m autograder`."""

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader.preprocessors import ClearHiddenTests

root = Path(__file__).resolve().parent
if str(root) not in sys.path:  # on a hub, only the students' side of the package is installed
    sys.path.insert(0, str(root))

from autograder.classroom.database import LAST_GRADEBOOK, gradebook_url  # noqa: E402
from autograder.classroom.exchange import CollectPlainFiles  # noqa: E402
from autograder.classroom.feedback_page import (  # noqa: E402
    DropRubrics,
    FeedbackExporter,
    OwnPoints,
    SummaryFirst,
    WithholdHidden,
)
from autograder.classroom.preprocessors import GradeSubmission, SaveGrades  # noqa: E402
from autograder.classroom.rendering import (  # noqa: E402
    render_code,
    render_formulas,
    render_html,
    render_markdown,
    render_terminal,
)

c = get_config()  # type: ignore[name-defined]  # noqa: F821

# nbgrader runs `alembic` by name when it makes the gradebook
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

# Directories
c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "attention"
c.CourseDirectory.student_id = "*"  # a hub's own configuration names whoever is logged in
c.CourseDirectory.source_directory = str(root / "build" / "source")
c.CourseDirectory.release_directory = str(root / "notebooks")
for step in ("submitted", "autograded", "feedback"):
    setattr(c.CourseDirectory, f"{step}_directory", str(root / "coursework" / step))
gradebook = root / "coursework" / "gradebook.db"
gradebook.parent.mkdir(exist_ok=True)  # SQLite makes the file, and not its folder
c.CourseDirectory.db_url = gradebook_url(f"sqlite:///{gradebook}?timeout=60", gradebook.with_name(LAST_GRADEBOOK))
c.ZipCollectApp.downloaded_directory = str(root / "coursework" / "downloaded")

# Collecting: students write to the exchange, and the teacher's rights read it
c.ExchangeFactory.collect = CollectPlainFiles

# Handing in: when work is due and which attempt counts, for all lessons, and for single ones; docs/hub.md has all
c.HandIn.time_zone = "UTC"
c.HandIn.lessons = {}

# Questions that a person grades, such as ["R1", "R2", "R3"]: the others are optional then; [] for all of them
c.Questions.graded = []

# Grading: a submission is repaired, run and judged by one function, and its rows are written by another
c.Autograde.sanitize_preprocessors = [GradeSubmission]
c.Autograde.autograde_preprocessors = [SaveGrades]

# Feedback and Formgrader's pages: nothing in a submission may act in the reader's browser
c.GenerateFeedback.preprocessors = [
    *(DropRubrics, OwnPoints, ClearHiddenTests, WithholdHidden, CSSHTMLHeaderPreprocessor, SummaryFirst)
]
c.GenerateFeedback.exporter_class = FeedbackExporter
c.ClearHiddenTests.enforce_metadata = False
c.HTMLExporter.sanitize_html = True
c.HTMLExporter.filters = {
    "ansi2html": render_terminal,
    "clean_html": render_html,
    "highlight_code": render_code,
    "markdown2html": render_markdown,
    "strip_files_prefix": render_formulas,
}
