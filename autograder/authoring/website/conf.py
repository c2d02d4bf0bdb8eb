"""Sphinx's configuration. The project's name comes from the README (see `site.run_sphinx`)."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

extensions = ["myst_nb"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = [".doctrees"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # no kernel, so no script that looks for one
nb_render_text_lexer = "text"
html_math_renderer = "mathml"

html_theme = "furo"
LIGHT = {"color-brand-primary": "#1d4f91", "color-brand-content": "#1d4f91", "color-brand-visited": "#5b3f8c"}
DARK = {"color-brand-primary": "#8fb8f0", "color-brand-content": "#8fb8f0", "color-brand-visited": "#c0a5ef"}
html_theme_options = {"top_of_page_buttons": [], "light_css_variables": LIGHT, "dark_css_variables": DARK}
html_static_path = ["static"]
html_css_files = ["lessons.css"]
html_js_files = ["lessons.js"]
templates_path = ["templates"]
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
html_show_search_summary = (
    False  # it would fetch each page, which browsers refuse to a page that was opened from a file
)
html_copy_source = False
html_use_index = False
html_show_copyright = False


def setup(app: Any) -> None:
    """Draw formulas as MathML, which browsers show themselves, without a script."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula that stands in a line of text."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that has lines of its own, in a box that scrolls where it is too wide."""
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
