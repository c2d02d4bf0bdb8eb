import pytest

from autograder.classroom.sanitize import clean_html, clean_rendered


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src='https://elsewhere/x.png' onerror='alert(1)'>",
        "<iframe src='https://elsewhere'></iframe>",
        "<p onclick='alert(1)'>x</p>",
        "<a href='javascript:alert(1)'>x</a>",
        "<div style='background-image:url(https://elsewhere)'>x</div>",
        "<style>body{display:none}</style>",
        "<svg onload='alert(1)'></svg>",
    ],
)
@pytest.mark.parametrize("clean", [clean_html, clean_rendered])
def test_nothing_in_a_submission_can_act_in_a_browser(clean, hostile: str) -> None:
    cleaned = clean(hostile)
    for trace in ("<script", "onerror", "onclick", "javascript:", "elsewhere", "<iframe", "<style", "onload", "<svg"):
        assert trace not in cleaned


def test_what_lessons_and_cards_use_survives() -> None:
    kept = (
        "<div role='status' style='border:1px solid;'><p>a</p><table><caption>c</caption><tr><td>1</td></tr></table>"
        "<details><summary>Hint</summary>text</details><h2 id='x'>t</h2><a href='https://arxiv.org'>l</a></div>"
    )
    cleaned = clean_html(kept).replace('"', "'")
    for tag in (
        "role='status'",
        "border:1px solid;",
        "<caption>",
        "<details>",
        "<summary>",
        "<h2 id='x'>",
        "arxiv.org",
    ):
        assert tag in cleaned


def test_formulas_are_left_alone() -> None:
    assert clean_rendered("<p>$a_{ij} = \\frac{1}{2}$</p>") == "<p>$a_{ij} = \\frac{1}{2}$</p>"
