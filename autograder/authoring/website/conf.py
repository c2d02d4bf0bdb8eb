"""Sphinx's configuration. The project's name comes from the README (see `site.run_sphinx`)."""

extensions = ["myst_nb", "autograder.authoring.site_extension"]
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
html_show_search_summary = False  # see site_extension
html_copy_source = False
html_use_index = False
html_show_copyright = False
