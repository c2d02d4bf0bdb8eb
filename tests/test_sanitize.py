"""What may be in a page that shows a submission."""

import pytest

from autograder.classroom.sanitize import clean_rendered, without_scripts

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<iframe src='https://elsewhere'></iframe>",
    "<svg><style>@import 'https://elsewhere'</style></svg>",
    "<form action='https://elsewhere'><input name='points'></form>",
    "<div id='score' name='score'>100</div>",
    "<math href='javascript:alert(1)'><mi>x</mi></math>",
    "<p style='background:url(https://elsewhere)'>x</p>",
    r"$\href{javascript:alert(1)}{x}$",
    "$<script>alert(1)</script>$",
]


@pytest.mark.parametrize("page", HOSTILE)
def test_nothing_that_acts_or_loads_is_left(page: str) -> None:
    clean = clean_rendered(page)
    for sign in ("<script", "onerror", "javascript:alert(1)'", 'href="javascript', "<iframe", "<form", "url(", " id="):
        assert sign not in clean


def test_a_formula_becomes_mathml() -> None:
    clean = clean_rendered(r"<p>the root $\sqrt{d_k}$ of it</p>")
    assert "<msqrt>" in clean
    assert "$" not in clean


def test_a_dollar_in_code_and_a_formula_that_is_none_stay() -> None:
    text = r"<pre>a = '$x$'</pre><p>costs $5 and $\frac{$</p>"
    assert "<pre>a = '$x$'</pre>" in clean_rendered(text)
    assert "costs" in clean_rendered(text)


def test_a_dollar_in_an_attribute_or_across_tags_is_no_formula() -> None:
    text = '<a href="#x" title="$x$">a</a> from $5 to <b>$6</b>'
    assert clean_rendered(text) == text


@pytest.mark.parametrize(
    "address", ["../00_warm_up/00_warm_up.ipynb", "lesson.ipynb#cell-id=attend", "/hub/logout", "//x"]
)
def test_a_link_that_leads_nowhere_from_a_feedback_page_is_its_text(address: str) -> None:
    assert clean_rendered(f'in <a href="{address}">lesson 0</a>') == "in <a>lesson 0</a>"


def test_a_link_to_elsewhere_takes_no_feedback_page_away() -> None:
    clean = clean_rendered('<a title="a paper" href="https://arxiv.org/abs/1">it</a> <a href="#cell">below</a>')
    tab = '<a target="_blank" rel="noopener" title="a paper" href="https://arxiv.org/abs/1">it</a>'
    assert clean == f'{tab} <a href="#cell">below</a>'


def test_a_whole_page_loses_its_scripts() -> None:
    page = without_scripts("<html><head><script src='https://elsewhere'></script></head><body>hi</body></html>")
    assert page == "<html><head></head><body>hi</body></html>"


def test_more_tags_than_any_lesson_has_are_shown_as_text() -> None:
    clean = clean_rendered("<b><p>" * 5000)
    assert "<b>" not in clean
    assert clean.startswith("&lt;b&gt;&lt;p&gt;")
