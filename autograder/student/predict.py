"""Predictions: state one before the reveal, compare after it. Never graded, never in the way."""

from __future__ import annotations

import ipywidgets
from IPython.display import display

_stated: dict[str, str] = {}
_revealed: dict[str, str] = {}


def predict(question: str, options: tuple[str, ...]) -> None:
    """Ask for a prediction.

    Args:
        question: a few words; `reveal` takes the same ones.
        options: what can be chosen, by mouse or keyboard.

    Without a live kernel behind the page the options appear as text.
    """
    radio = ipywidgets.RadioButtons(
        options=options, value=None, description="", layout=ipywidgets.Layout(width="max-content")
    )
    radio.observe(lambda change: _stated.__setitem__(question, change["new"]), names="value")
    view = dict(radio._repr_mimebundle_() or {})
    view["text/plain"] = f"Your prediction, {question}: " + " / ".join(options)
    display(view, raw=True)


def reveal(question: str, answer: str) -> None:
    """Show the prediction beside what came out.

    Args:
        question: the words given to `predict`.
        answer: what came out, in the words of the options.
    """
    _revealed[question] = answer
    stated = _stated.get(question)
    if stated is None:
        print(f"{question}: {answer}. (You stated no prediction.)")
    elif stated == answer:
        print(f"{question}: {answer}, as you predicted.")
    else:
        print(f"{question}: {answer}. You predicted: {stated}.")


def recap() -> None:
    """Show where intuition was right and where not: every prediction stated in this lesson beside what came out."""
    stated = {question: said for question, said in _stated.items() if question in _revealed}
    if not stated:
        print("You stated no predictions.")
    for question, said in stated.items():
        answer = _revealed[question]
        verdict = "as you said" if said == answer else f"you said: {said}"
        print(f"{'✓' if said == answer else '✗'} {question}: {answer} ({verdict})")
    right = sum(said == _revealed[question] for question, said in stated.items())
    if stated:
        print(f"{right} of {len(stated)} predictions were right.")
