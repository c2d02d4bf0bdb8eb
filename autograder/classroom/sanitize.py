"""What may be in a page that shows a submission. Filters for nbconvert, set in nbgrader_config.py.

nbgrader's pages show students' markdown and HTML as they are; a script in a submission would run in the browser of
whoever opens the page. These filters keep what lessons use and drop everything else. Formulas become MathML, which
browsers draw without a script and without a network.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from functools import lru_cache, partial, wraps

import bleach
from bleach.css_sanitizer import CSSSanitizer
from latex2mathml.converter import convert

BLOCKS = {"br", "details", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "p", "pre", "span", "summary"}
TABLES = {"caption", "table", "tbody", "td", "th", "thead", "tr"}
TAGS = bleach.ALLOWED_TAGS | BLOCKS | TABLES | {"del", "sub", "sup"}
LEADS_SOMEWHERE = re.compile(r"#|(https?|mailto):", re.IGNORECASE)  # another lesson is not where a page lies
# in a frame of JupyterLab's, most sites would refuse to be shown in place of the page
ELSEWHERE, IN_A_TAB = re.compile(r'<a (?=[^>]*href="https?:)', re.IGNORECASE), '<a target="_blank" rel="noopener" '
# no property that can load something
STYLES = [
    "border",
    "border-collapse",
    "border-left-width",
    "background-color",
    "color",
    "display",
    "font-weight",
    "margin",
    "padding",
    "text-align",
]


def allowed_of_a_link(_tag: str, name: str, value: str) -> bool:
    """Say whether an attribute of a link is kept."""
    return name in ("class", "role", "style", "title") or (name == "href" and bool(LEADS_SOMEWHERE.match(value)))


ATTRIBUTES = {"*": ["class", "role", "style"], "a": allowed_of_a_link, "details": ["open"]}
CSS = CSSSanitizer(allowed_css_properties=STYLES)
MATH_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "mpadded", "mphantom"),
    *("mfrac", "msqrt", "mroot", "msub", "msup", "msubsup", "mover", "munder", "munderover", "mtable", "mtr", "mtd"),
}
MATH_ATTRIBUTES = ["display", "mathvariant", "stretchy", "fence", "form", "accent", "linethickness", "columnalign"]
# code and tags are left alone; then $$…$$ on lines of its own, and $…$ within one
FORMULA = re.compile(r"<(pre|code)\b.*?</\1>|<[^>]*>|\$\$(?P<block>[^$<]+)\$\$|\$(?P<inline>[^$<\n]+)\$", re.DOTALL)
LONGEST_FORMULA = 1000
MOST_KEPT, LONGEST_KEPT = 300, 5000  # texts, which is several lessons', and characters of one
MOST_TAGS = 3000  # the parser takes time with the square of how deep they are nested
CONTENT_SECURITY_POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'; font-src data:; form-action 'none'; base-uri 'none'\">"
)
# JupyterLab's viewer gives a base address to the element that it finds, or puts one in front of the policy, which
# forbids it: with one, links within the page would lead to a page that may not be framed
IN_HEAD = f"""{CONTENT_SECURITY_POLICY}<base target="_self">
<meta name="viewport" content="width=device-width, initial-scale=1">"""
SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
ANCHOR = re.compile(r'<a class="anchor-link"[^>]*>[^<]*</a>')  # leads to ids, which are dropped


def kept(render: Callable[..., str]) -> Callable[..., str]:
    """Keep what short texts became: most of what a page holds is the lesson's own, and the same on every page."""
    keeping = lru_cache(MOST_KEPT)(render)

    @wraps(render)
    def either(text: str, *options: str) -> str:
        return (keeping if len(text) <= LONGEST_KEPT else render)(text, *options)

    return either


@kept
def clean_html(text: str) -> str:
    """Return HTML without anything that could act: scripts, frames, images from elsewhere, event handlers."""
    if text.count("<") > MOST_TAGS:
        return html.escape(text)
    try:
        clean = bleach.clean(text, tags=TAGS, attributes=ATTRIBUTES, css_sanitizer=CSS, strip=True)
        return ELSEWHERE.sub(IN_A_TAB, clean)
    except RecursionError:  # parentheses in a style, thousands deep
        return html.escape(text)


def clean_rendered(page: str, drawn: Callable[[str], bool] = lambda formula: True) -> str:
    """Clean rendered markdown, then draw its formulas.

    Args:
        page: the markdown as HTML.
        drawn: says whether a formula is drawn; one that is not stays as it was written.
    """
    return FORMULA.sub(partial(formula_to_mathml, drawn), clean_html(ANCHOR.sub("", page)))


def formula_to_mathml(drawn: Callable[[str], bool], match: re.Match[str]) -> str:
    """Return a formula as MathML; as it was written where it is none, or is not to be drawn."""
    formula = match["block"] or match["inline"]
    if formula is None or len(formula) > LONGEST_FORMULA or not drawn(formula):
        return match[0]
    return mathml_of(formula, "block" if match["block"] else "inline") or match[0]


@kept
def mathml_of(formula: str, display: str) -> str:
    """Return a formula as MathML, or '' where it is none."""
    try:
        mathml = convert(html.unescape(formula), display=display)
    except Exception:  # whatever a student has written between two dollars
        return ""
    return str(bleach.clean(mathml, tags=MATH_TAGS, attributes={"*": MATH_ATTRIBUTES}, strip=True))


def without_scripts(page: str) -> str:
    """Return a whole page without the scripts that nbconvert puts into its head. IN_HEAD tells browsers to run none.

    The second wall: it holds where a filter has let something through.
    """
    return SCRIPT.sub("", page)
