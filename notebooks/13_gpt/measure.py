"""What lesson 13's recipe and the model's parts are worth: `python measure.py` writes measured.txt, in half an hour.

Each way is trained from three seeds, for fewer steps than the notebook's own model. The notebook reads the table.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from dictionary import Dictionary
from modern import GPT
from training import SMALL, Recipe, loss_on, train

MEASURED = Path("measured.txt")  # beside the notebook
SEEDS, STEPS, LONGER = (0, 1, 2), 600, Recipe().steps
RECIPES: dict[str, dict[str, Any]] = {
    "everything": {},
    "no warm-up": {"warmup": 0},
    "no clipping": {"clip": math.inf},
    "no cosine": {"cosine": False},
    "no decay": {"decay": 0.0},
    "vectors decay, too": {"decay_all": True},
}
TODAY: dict[str, dict[str, Any]] = {
    "2019": {},
    "RMSNorm": {"rms": True},
    "a gated network": {"gated": True},
    "rotary positions": {"rotary": True},
    "grouped queries": {"kv_heads": 2},
    "no biases": {"bias": False},
    "today": {"rms": True, "gated": True, "rotary": True, "kv_heads": 2, "bias": False},
}
BOTH = ("2019", "today")  # these two also for as long as the model of the notebook


def parameters(**options: Any) -> int:
    """Return how many parameters the small model has with some options."""
    with torch.device("meta"):
        return sum(p.numel() for p in GPT(2048, **SMALL, **options).parameters())


def equally_large(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the inner width at which the model has about as many parameters as without them."""
    one, two = (parameters(**options, d_ff=width) for width in (1, 2))
    return options | {"d_ff": 1 + round((parameters() - one) / (two - one))}


def loss_after(text: Dictionary, recipe: Recipe, options: dict[str, Any]) -> float:
    """Train a small model and return its loss on the unseen lines, in nats per token."""
    torch.manual_seed(recipe.seed)
    model = GPT(len(text.tokens), **SMALL, **options)
    train(model, text, recipe)
    return loss_on(model, text, text.unseen)


def losses(text: Dictionary) -> Iterator[tuple[str, str, list[float]]]:
    """Yield what is varied, how, and the loss from each seed, in the order of the tables above."""
    for way, changes in RECIPES.items():
        recipes = [Recipe(steps=STEPS, seed=seed, **changes) for seed in SEEDS]
        yield "recipe", way, [loss_after(text, recipe, {}) for recipe in recipes]
    for varied, steps, ways in (("model", STEPS, TODAY), ("longer", LONGER, BOTH)):
        for way in ways:
            options = equally_large(TODAY[way])
            recipes = [Recipe(steps=steps, seed=seed) for seed in SEEDS]
            yield varied, way, [loss_after(text, recipe, options) for recipe in recipes]


def table(varied: str) -> dict[str, list[float]]:
    """Return the losses in measured.txt, one per seed, where "recipe", "model" or "longer" is what was varied."""
    rows = [
        line.split("\t") for line in MEASURED.read_text(encoding="ascii").splitlines()
    ]
    return {
        row[1]: [float(loss) for loss in row[2:]] for row in rows if row[0] == varied
    }


def worse(varied: str, than: str) -> dict[str, list[float]]:
    """Return by how much each way's loss lies above that of another, one number per seed."""
    losses = table(varied)
    return {
        way: [loss - base for loss, base in zip(row, losses[than], strict=True)]
        for way, row in losses.items()
        if way != than
    }


def main() -> None:
    """Train all models, and write a line of the table after each way."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    lines: list[str] = []
    for varied, way, found in losses(Dictionary()):
        lines.append("\t".join([varied, way, *(f"{loss:.3f}" for loss in found)]))
        print(lines[-1], flush=True)
        MEASURED.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
