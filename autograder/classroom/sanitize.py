"""What may stand in a feedback page. Filters for nbconvert, set in nbgrader_config.py.

nbgrader's pages show students' markdown and HTML as they are; a script in a submission would run in the browser of
whoever opens the page. These filters keep what lessons use and drop everything else.
"""

from __future__ import annotations

import bleach
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.filters import strip_files_prefix

BLOCKS = {"br", "details", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "p", "pre", "span", "summary"}
TABLES = {"caption", "table", "tbody", "td", "th", "thead", "tr"}
TAGS = bleach.ALLOWED_TAGS | BLOCKS | TABLES | {"del", "sub", "sup"}
ATTRIBUTES = {"*": ["class", "id", "role", "style"], "a": ["href", "title", "name"], "details": ["open"]}
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
CSS = CSSSanitizer(allowed_css_properties=STYLES)


def clean_html(html: object) -> str:
    """Return HTML without anything that could act: scripts, frames, images from elsewhere, event handlers."""
    text = html.decode() if isinstance(html, bytes) else str(html)
    return str(bleach.clean(text, tags=TAGS, attributes=ATTRIBUTES, css_sanitizer=CSS, strip=True))


def clean_rendered(html: str) -> str:
    """Do what nbconvert's `strip_files_prefix` does, then clean.

    nbgrader's page passes rendered markdown through that filter and through no other.
    """
    return clean_html(strip_files_prefix(html))
