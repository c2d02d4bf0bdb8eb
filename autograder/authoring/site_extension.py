"""Our extension of Sphinx: formulas as MathML, which browsers draw themselves, and sections for the search.

Sphinx's search would fetch each page to show what stands in it, which browsers refuse to a page that was opened from a
file. So the text of all sections is in a script beside the pages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

SECTIONS_SCRIPT = "sections.js"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer that `html_math_renderer = "mathml"` chooses, and collect the sections of each page."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    sections: dict[str, list[tuple[str, str, str]]] = {}

    def collect(_app: Sphinx, page: nodes.document, name: str) -> None:
        sections[name] = [section_of(node) for node in page.findall(nodes.section)]

    def write(app: Sphinx, error: Exception | None) -> None:
        if error is None:
            script = f"const SECTIONS = {json.dumps(sections, ensure_ascii=False)};\n"
            (Path(app.outdir) / "_static" / SECTIONS_SCRIPT).write_text(script, encoding="utf-8")

    app.connect("doctree-resolved", collect)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that has lines of its own, in a box that scrolls where it is too wide."""
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def section_of(node: nodes.section) -> tuple[str, str, str]:
    """Return a section's id, its title, and its text without that of the sections in it."""
    title, *rest = node.children
    texts = [part.astext() for part in rest if not isinstance(part, nodes.section | nodes.raw)]
    return node["ids"][0], title.astext(), " ".join(" ".join(texts).split())
