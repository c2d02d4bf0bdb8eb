"""Predictions: state one before the reveal, compare after it. Never graded, never in the way."""

from __future__ import annotations

import ipywidgets
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display

_stated: dict[str, str] = {}
_revealed: dict[str, str] = {}


def predict(question: str, options: tuple[str, ...]) -> None:
    """Ask for a prediction.

    Args:
        question: a few words; `reveal` takes the same ones.
        options: what can be chosen, by mouse or keyboard.

    Without a live kernel behind the page, and in plain Python, the options appear as text.
    """
    text = f"Your prediction, {question}: " + " / ".join(options)
    if not InteractiveShell.initialized():
        print(text)
        return
    radio = ipywidgets.RadioButtons(
        options=options, value=None, description="", layout=ipywidgets.Layout(width="max-content")
    )
    radio.observe(lambda change: _stated.__setitem__(question, change["new"]), names="value")
    view = dict(radio._repr_mimebundle_() or {})
    view["text/plain"] = text
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
        print(f"{question}: {answer}.")
    elif stated == answer:
        print(f"{question}: {answer}, as you predicted.")
    else:
        print(f"{question}: {answer}. You predicted: {stated}.")


def recap() -> None:
    """Show where intuition was right and where it was not: what came out, beside each prediction that was stated."""
    right = stated = 0
    for question, answer in _revealed.items():
        said = _stated.get(question)
        if said is None:
            print(f"· {question}: {answer}")
            continue
        stated, right = stated + 1, right + (said == answer)
        verdict = "as you said" if said == answer else f"you said: {said}"
        print(f"{'✓' if said == answer else '✗'} {question}: {answer} ({verdict})")
    if stated:
        print(f"{right} of {stated} predictions were right.")
