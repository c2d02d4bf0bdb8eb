"""A verdict as a student sees it: the same words as text and as HTML."""

from __future__ import annotations

from html import escape

from .compare import Picture, format_number
from .verdict import Failure, Verdict

TEXT_COLOR = "var(--jp-content-font-color1, #212121)"
BORDER = "var(--jp-border-color1, #bdbdbd)"
BACKGROUND = "var(--jp-layout-color1, #ffffff)"
COLORS = f"color:{TEXT_COLOR};background-color:{BACKGROUND};"
BOX = f"border:1px solid {BORDER};border-left-width:6px;padding:8px 12px;{COLORS}"
CELL = f"padding:2px 8px;text-align:right;border:1px solid {BORDER};"
MARKED = CELL + "font-weight:bold;"


class Card:
    """What `check` displays. Its reprs are deterministic."""

    def __init__(self, verdict: Verdict, *, graded: bool = False, hidden_left: int = 0, hint: int = 0) -> None:
        self._lines = lines_of(verdict, graded, hidden_left)
        self._next = f"Stuck? Open hint {hint} above the exercise." if hint else ""
        self._picture = verdict.failure.picture if verdict.failure else None

    def __repr__(self) -> str:
        """Return the card as plain text."""
        picture = [picture_text(self._picture)] if self._picture else []
        return "\n".join([*self._lines, *picture, *filter(None, [self._next])])

    def _repr_html_(self) -> str:
        """Return the card as HTML, with colors of the page it is in and nothing told by color alone."""
        head, *rest = map(with_code, self._lines)
        body = "".join(f"<p style='margin:4px 0'>{line}</p>" for line in rest)
        picture = picture_html(self._picture) if self._picture else ""
        following = f"<p style='margin:6px 0 0 0'>{self._next}</p>" if self._next else ""
        return f"<div role='status' style='{BOX}'><strong>{head}</strong>{body}{picture}{following}</div>"


def lines_of(verdict: Verdict, graded: bool, hidden_left: int) -> list[str]:
    """Return the card's lines: the sum, what passed, what failed first, what is still to come."""
    if not verdict.started:
        return [not_started(verdict)]
    lines = [headline(verdict, graded)]
    passed = [r.title for r in verdict.results if r.passed and not r.hidden]
    if passed and not verdict.passed:
        lines.append("✓ " + " ✓ ".join(passed))
    if verdict.failure:
        lines += failure_lines(verdict.failure)
    elif hidden_left:
        lines.append(f"{number(hidden_left, 'hidden check')} will run when this is graded.")
    return lines


def headline(verdict: Verdict, graded: bool) -> str:
    """Return the first line: how much of the exercise is right."""
    good, total = sum(r.passed for r in verdict.results), len(verdict.results)
    sign = "✓" if verdict.passed else "✗"
    counts = graded and verdict.max_points > 0  # an optional exercise has no points
    points = f", {verdict.points} of {number(verdict.max_points, 'point')}" if counts else ""
    return f"{sign} {verdict.exercise}: {good} of {number(total, 'check')} passed{points}"


def not_started(verdict: Verdict) -> str:
    """Return the one line of an exercise that is as it was released."""
    return f"○ {verdict.exercise}: not started"


def with_code(text: str) -> str:
    """Return a text as HTML, with what stands between backticks as code."""
    parts = text.split("`")
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(parts))


def number(count: int, noun: str) -> str:
    """Return a count with its noun in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def failure_lines(failure: Failure) -> list[str]:
    """Return what a student reads about the first failed check: two or three lines."""
    kind = "Hidden check" if failure.hidden else "Check"
    lines = [f"✗ {kind}: {failure.title}", failure.message]
    return [*lines, failure.detail] if failure.detail else lines


def message_of(verdict: Verdict) -> str:
    """Return the short message that a failed check raises with."""
    if verdict.failure is None or not verdict.started:
        return f"{verdict.exercise}: not started"
    return f"{verdict.exercise}: {verdict.failure.message}"


def picture_text(picture: Picture) -> str:
    """Draw yours and expected as text, differing entries between > and <."""
    rows = [f"{picture.label}", "yours:"]
    for numbers, marks in zip(picture.yours, picture.differs, strict=True):
        texts = [(entry(n, picture), m) for n, m in zip(numbers, marks, strict=True)]
        rows.append(" ".join(f">{text:>7}<" if m else f" {text:>7} " for text, m in texts))
    rows.append("expected:")
    rows += [" ".join(f" {entry(n, picture):>7} " for n in numbers) for numbers in picture.expected]
    return "\n".join(rows)


def entry(number: float, picture: Picture) -> str:
    """Return one entry of a picture: a number with three decimals, a whole one among whole ones, or True or False."""
    return format_number(number, truth=picture.truth) if picture.truth or picture.whole else f"{number:.3f}"


def picture_html(picture: Picture) -> str:
    """Draw yours, expected and difference as tables side by side; differing entries are bold and carry a ≠."""
    pairs = [
        list(zip(*rows, strict=True)) for rows in zip(picture.yours, picture.expected, picture.differs, strict=True)
    ]
    yours = [[f"{'≠ ' if d else ''}{entry(y, picture)}" for y, _, d in row] for row in pairs]
    tables = [
        table_html("yours", yours),
        table_html("expected", [[entry(e, picture) for _, e, _ in row] for row in pairs]),
    ]
    if not picture.truth:
        places = "+.0f" if picture.whole else "+.3f"
        tables.append(
            table_html("difference", [[f"{y - e:{places}}" if d else "" for y, e, d in row] for row in pairs])
        )
    return f"<p style='margin:8px 0 2px 0'>{escape(picture.label)}</p><div>{''.join(tables)}</div>"


def table_html(caption: str, texts: list[list[str]]) -> str:
    """Draw one table of numbers with a caption."""
    rows = "".join(
        "<tr>" + "".join(f"<td style='{MARKED if '≠' in text else CELL}'>{text}</td>" for text in row) + "</tr>"
        for row in texts
    )
    style = f"display:inline-table;margin:0 16px 0 0;border-collapse:collapse;color:{TEXT_COLOR};"
    return f"<table style='{style}'><caption style='text-align:left'>{caption}</caption><tbody>{rows}</tbody></table>"
