"""The diagram of lesson 5. The notebook beside this file imports it."""

from itertools import pairwise

from autograder import plot

FORWARD = {
    "scores": (0, 1.3),
    "hide": (1.7, 1.3),
    "softmax": (3.4, 1.3),
    "replace": (5.1, 1.3),
    "loss": (6.8, 1.3),
}
BACKWARD = {f"{name} ": (x, 0.0) for name, (x, _) in FORWARD.items()}


def there_and_back() -> None:
    """Draw what an empty row is on its way to the loss, and its gradient on the way back."""
    values = ("0, 0, 0", "−∞, −∞, −∞", "nan", "0, 0, 0")
    gradients = ("1, 0, 0", "0, 0, 0", "nan", "added: nan\nwritten over: 0")
    forward = [
        (a, b, 0.25, text)
        for (a, b), text in zip(pairwise(FORWARD), values, strict=True)
    ]
    backward = [
        (a, b, 0.25, text)
        for (a, b), text in zip(pairwise(reversed(BACKWARD)), gradients, strict=True)
    ]
    plot.diagram(
        {**FORWARD, **BACKWARD},
        [*forward, *backward],
        "The nan is removed on the way forward and returns on the way back",
        marked=["softmax", "softmax "],
        alt="On the way forward the scores are hidden, softmax makes nan, and nan becomes 0. On the way back the "
        "gradient is finite until it reaches softmax, which makes it nan. Hiding by addition passes the nan on to the "
        "scores, hiding by writing over them passes on 0.",
    )
