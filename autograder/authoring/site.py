"""The lessons as a website that needs no server and no network: Sphinx, with MyST-NB and Furo.

The pages are those of the course's own files: the lessons (see `site_pages`), the documents in docs/, and a front page
from what the README says.
"""

from __future__ import annotations

import io
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from ..errors import CourseError, LessonError
from ..paths import Course
from .bundle import README as FOR_STUDENTS
from .lesson import read_lesson, title_of
from .notebook import notebook_text
from .site_pages import lesson_page, relinked

OWN = Path(__file__).parent / "website"
FRONT = "index.md"
LESSONS, DOCUMENTS = "lessons", "documents"
FIRST_DOCUMENTS = ("students", "instructors", "hub", "grading")


def make_site(course: Course) -> Path:
    """Write build/site/; return the path of its front page.

    Raises:
        CourseError: Sphinx is not installed, or warns: a link that leads nowhere, a formula that is none.
        LessonError: a lesson has changed since its last build.
    """
    if not all(map(find_spec, ("sphinx", "myst_nb", "furo"))):
        raise CourseError("The site is made with Sphinx: `make site` installs it, or `pip install -e '.[site]'`.")
    shutil.rmtree(course.site_source, ignore_errors=True)
    for name, text in pages(course).items():
        path = course.site_source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for picture in pictures(course):
        shutil.copy(picture, course.site_source / DOCUMENTS)
    shutil.rmtree(course.site, ignore_errors=True)
    run_sphinx(course)
    return course.site / "index.html"


def run_sphinx(course: Course) -> None:
    """Turn the pages into HTML. Raises CourseError with Sphinx's warnings: each is a page that is not as meant."""
    from sphinx.application import Sphinx

    warnings = io.StringIO()
    name = heading(course.readme.read_text(encoding="utf-8"))
    application = Sphinx(
        srcdir=course.site_source,
        confdir=OWN,
        outdir=course.site,
        doctreedir=course.site_source / ".doctrees",
        buildername="html",
        confoverrides={"project": name, "html_title": name},
        status=None,
        warning=warnings,
    )
    application.build()
    if warnings.getvalue():
        raise CourseError("The site was not made: " + re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue()).strip())


def pages(course: Course) -> dict[str, str]:
    """Return the text of every page by its path in the site's source."""
    site_paths = addresses(course)
    texts = {FRONT: front_page(course, site_paths)}
    for lesson in course.lessons():
        home = lesson.released_dir.relative_to(course.root)
        texts[site_paths[f"{home}/{lesson.notebook_name}"]] = notebook_text(
            lesson_page(lesson, site_paths, FOR_STUDENTS)
        )
    for path in documents(course):
        name = path.relative_to(course.root).as_posix()
        texts[site_paths[name]] = relinked(path.read_text(encoding="utf-8"), name, site_paths)
    return texts


def addresses(course: Course) -> dict[str, str]:
    """Return where on the site each file of the course is that has a page, or is a picture, by its path."""
    site_paths = {"README.md": FRONT}
    for lesson in course.lessons():
        path = (lesson.released_dir / lesson.notebook_name).relative_to(course.root)
        site_paths[path.as_posix()] = f"{LESSONS}/{lesson.notebook_name}"
    beside = [*documents(course), *pictures(course)]
    return site_paths | {path.relative_to(course.root).as_posix(): f"{DOCUMENTS}/{path.name}" for path in beside}


def pictures(course: Course) -> list[Path]:
    """Return the pictures in docs/."""
    return sorted(course.documents.glob("*.png"))


def documents(course: Course) -> list[Path]:
    """Return docs/, in the order in which readers need it."""

    def rank(path: Path) -> tuple[int, str]:
        first = path.stem in FIRST_DOCUMENTS
        return (FIRST_DOCUMENTS.index(path.stem) if first else len(FIRST_DOCUMENTS), path.stem)

    return sorted(course.documents.glob("*.md"), key=rank)


def heading(text: str) -> str:
    """Return a page's title."""
    return text.splitlines()[0].removeprefix("# ")


def front_page(course: Course, site_paths: dict[str, str]) -> str:
    """Return the front page: title, first paragraph, card and table of lessons from the README, and where to go next.

    Raises LessonError where the README has no such table.
    """
    text = course.readme.read_text(encoding="utf-8")
    table = re.search(r"^\|.*\n(?:\|.*(?:\n|$))+", text, re.MULTILINE)
    titles = [title_of(read_lesson(lesson), lesson) for lesson in course.lessons()]
    missing = [title for title in titles if table is None or f"[{title}]" not in table[0]]
    if table is None or missing:
        raise LessonError("README.md", f"its table of lessons lacks {missing[0]}.", "The site's front page shows it.")
    filled = (
        (OWN / FRONT)
        .read_text(encoding="utf-8")
        .format(
            title=heading(text),
            introduction="\n\n".join(text.split("\n\n")[1:3]),
            lessons=table[0],
            lesson_pages="\n".join(page for page in site_paths.values() if page.startswith(LESSONS)),
            document_pages="\n".join(navigation_entry(path, heading(text)) for path in documents(course)),
        )
    )
    return relinked(filled, "README.md", site_paths)


def navigation_entry(path: Path, course_title: str) -> str:
    """Return a document's line in the navigation: its title without the course's."""
    title = heading(path.read_text(encoding="utf-8")).removeprefix(f"{course_title}: ")
    return f"{title[0].upper()}{title[1:]} <{DOCUMENTS}/{path.stem}>"
