"""What the site's search shows of a page: its sections, in a script beside the pages. An extension of Sphinx.

Sphinx itself would fetch each page for that, which browsers refuse to a page that was opened from a file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

SCRIPT = "sections.js"
Sections = list[tuple[str, str, str]]


def setup(app: Sphinx) -> dict[str, Any]:
    """Collect the sections of each page as it is read, and write them beside the pages in the end."""
    sections: dict[str, Sections] = {}

    def collect(_app: Sphinx, page: nodes.document, name: str) -> None:
        sections[name] = [section_of(node) for node in page.findall(nodes.section)]

    def write(app: Sphinx, error: Exception | None) -> None:
        if error is None:
            script = f"const SECTIONS = {json.dumps(sections, ensure_ascii=False)};\n"
            (Path(app.outdir) / "_static" / SCRIPT).write_text(script, encoding="utf-8")

    app.connect("doctree-resolved", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def section_of(node: nodes.section) -> tuple[str, str, str]:
    """Return a section's id, its title, and its text without that of the sections in it."""
    title, *rest = node.children
    texts = [part.astext() for part in rest if not isinstance(part, nodes.section | nodes.raw)]
    return node["ids"][0], title.astext(), " ".join(" ".join(texts).split())
