"""How much of a page is rendered: nbconvert's filters with an allowance that a page's texts share.

Formgrader renders submissions in its own process, where nothing could stop a page that takes minutes. Renderers of
markdown and HTML take time with the square of a text's length, of its attributes, or of how deep its tags are nested;
those of code, colors and formulas with their length, and of code also with the square of its blank lines in a row. So
that is what a text costs, and what cannot be paid for is shown as plain text, or not at all. What a lesson holds costs
less than a third.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from nbconvert.filters.ansi import ansi2html
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from ..grading.grade import RUBRIC_TAG
from .sanitize import clean_html, clean_rendered, kept

ALLOWANCE = 3_000_000  # six seconds, at worst
KEY = "autograder_allowance"  # in a page's resources
PLAIN, PLAIN_COST = 5000, 50_000
CUT = "[… This text is longer than a page can show.]"
OF_A_CHARACTER_OF_CODE, OF_AN_ENTITY, OF_A_COLOR = 20, 20, 40
BLANK, OF_A_BLANK_SQUARED = re.compile(r"\s{2,}"), 15  # coloring reads blank lines anew from each of their ends
BETWEEN_ATTRIBUTES, OF_ATTRIBUTES_SQUARED = re.compile(r"[\s/\"']+"), 100  # each is compared with all before it
OF_A_FORMULA, OF_ITS_CHARACTERS = 200, 15  # a third of a millisecond for the shortest
ESCAPE = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z]?)?")
HIGHLIGHT = Highlight2HTML(pygments_lexer="ipython3")
TAG = re.compile(r"<[^<>]*>")
PICTURE, PICTURE_TAG = "[a picture, which is not shown here]", re.compile(r"<img\b[^<>]*>", re.IGNORECASE)
POINTS = re.compile(r"<td>(\d)</td>")
BUTTON = r'<td><button type="button" class="btn btn-default btn-sm">\1</button></td>'
RUBRIC_SCRIPT = (Path(__file__).parent / "pages" / "rubric.js").read_text(encoding="utf-8")


@pass_context  # type: ignore[untyped-decorator]
def render_markdown(page: Any, text: str) -> str:
    """Return markdown as HTML, in place of the exporter's own filter; a text that would take long as it was typed."""
    if spent(page, len(text) + len(text) ** 2 // 100):
        return plain_markdown(text)
    return as_typed(page, text)


class PicturesLeftOut(IPythonRenderer):  # type: ignore[misc]
    """Says where a picture is: none is shown, and one that is attached could be put in thousands of times."""

    def image(self, *_about: object, **_more: object) -> str:
        """Return what takes a picture's place."""
        return PICTURE


@kept
def plain_markdown(text: str) -> str:
    """Return markdown as HTML."""
    return PICTURE_TAG.sub(PICTURE, MarkdownWithMath(renderer=PicturesLeftOut(escape=False)).render(text))


@kept
def plain_code(source: str) -> str:
    """Return code in colors."""
    return str(HIGHLIGHT(source))


@pass_context  # type: ignore[untyped-decorator]
def render_code(page: Any, source: str, **options: Any) -> str:
    """Return code in colors, in place of the exporter's own filter; without them where they would take long."""
    blank = sum(len(run) ** 2 for run in BLANK.findall(source))
    if spent(page, OF_A_CHARACTER_OF_CODE * len(source) + blank // OF_A_BLANK_SQUARED):
        in_magic = "magics_language" in options.get("metadata", {})
        return str(HIGHLIGHT(source, **options)) if in_magic else plain_code(source)
    return as_typed(page, source)


@pass_context  # type: ignore[untyped-decorator]
def render_terminal(page: Any, text: str) -> str:
    """Return what was printed as HTML with its colors; without them where there are too many."""
    if spent(page, len(text) + OF_A_COLOR * text.count("\x1b")):
        return str(ansi2html(text))
    return html.escape(ESCAPE.sub("", text))


@pass_context  # type: ignore[untyped-decorator]
def render_formulas(page: Any, text: str) -> str:
    """Return rendered markdown, cleaned, with its formulas drawn as far as the allowance goes.

    nbgrader's page passes rendered markdown through the filter `strip_files_prefix` and through no other. What that
    one does is not done: no lesson has such links, and it takes time with the square of a text's length.
    """
    clean = clean_rendered(text, lambda formula: spent(page, OF_A_FORMULA + OF_ITS_CHARACTERS * len(formula)))
    is_rubric = RUBRIC_TAG in page.get("cell", {}).get("metadata", {}).get("tags", [])  # a submission's cells have none
    return POINTS.sub(BUTTON, clean) + f"<script>{RUBRIC_SCRIPT}</script>" if is_rubric else clean


def as_typed(page: Any, text: str) -> str:
    """Return the beginning of a text as it was typed, or no more than that it was left out."""
    shown = text[:PLAIN] if spent(page, PLAIN_COST) else ""
    return f"<pre>{html.escape(shown)}{CUT if len(shown) < len(text) else ''}</pre>"


@pass_context  # type: ignore[untyped-decorator]
def render_html(page: Any, text: object) -> str:
    """Return HTML without anything that could act; without any tag where cleaning it would take long."""
    words = text.decode() if isinstance(text, bytes) else str(text)
    attributes = sum(1 for _ in BETWEEN_ATTRIBUTES.finditer(words))  # or words: which of them are in a tag costs more
    squares = words.count("<") ** 2 // 10 + attributes**2 // OF_ATTRIBUTES_SQUARED
    if spent(page, len(words) + squares + OF_AN_ENTITY * words.count("&")):
        return clean_html(words)
    return TAG.sub("", words).replace("<", "&lt;").replace(">", "&gt;")


def spent(page: Any, cost: int) -> bool:
    """Take a cost from what a page has left; say whether it was there."""
    resources = page["resources"]
    left: int = resources.get(KEY, ALLOWANCE)
    if cost > left:
        return False
    resources[KEY] = left - cost
    return True
