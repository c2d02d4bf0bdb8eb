"""Formulas on the site as MathML, which browsers draw themselves: an extension of Sphinx."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer that `html_math_renderer = "mathml"` chooses."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that has lines of its own, in a box that scrolls where it is too wide."""
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
