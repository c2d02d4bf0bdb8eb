"""Trains the larger model of lesson 13 and writes model.safetensors. `make pretrain` runs it; the notebook only reads.

Same text, same seed, same parameters, on one kind of processor. Takes about half an hour on one core. Where the text or
its merges are missing, they are made first: from WordNet, and with the solution of exercise 13.1.
"""

import hashlib
import time

import torch
import wordnet
from dictionary import DEFINITIONS, MERGES, Dictionary, word_counts
from modern import GPT
from safetensors.torch import save_file
from torch import nn
from training import CHECKPOINT, LARGE, Recipe, loss_on, train

from autograder.authoring.lesson_package import package_of
from autograder.paths import find_course

RECIPE = Recipe(steps=14_000, batch=32, peak=0.002, warmup=200)
DROPOUT, EVERY = 0.1, 500
TOKENS = 2048


def main() -> None:
    """Train, and write the model every so many steps, so that what was learned is kept if the training stops."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(RECIPE.seed)
    text = prepared()
    model = GPT(len(text.tokens), dropout=DROPOUT, **LARGE)
    losses: dict[str, list[str]] = {"seen": [], "unseen": []}

    def show(step: int) -> None:
        for name, lines in (("seen", text.seen), ("unseen", text.unseen)):
            losses[name].append(f"{loss_on(model, text, lines):.3f}")
        seconds = time.process_time()
        print(
            f"{step:6} steps, {seconds:5.0f} s: {losses['seen'][-1]} {losses['unseen'][-1]}",
            flush=True,
        )
        save(model, step, losses)

    train(model, text, RECIPE, show, EVERY)


def prepared() -> Dictionary:
    """Return the text, after making those of its files that are missing."""
    if not DEFINITIONS.is_file():
        wordnet.write(DEFINITIONS)
    if not MERGES.is_file():
        MERGES.touch()
        text = Dictionary()
        learn_merges = package_of(find_course().lesson("13_gpt")).key.reference[
            "learn_merges"
        ]
        merges = learn_merges(word_counts(text.seen), TOKENS - len(text.tokens))
        lines = ["|".join(merge).replace(" ", "_") for merge in merges]
        MERGES.write_text("\n".join(lines) + "\n", encoding="ascii")
    return Dictionary()


def save(model: nn.Module, step: int, losses: dict[str, list[str]]) -> None:
    """Write the model in half precision, with what is worth knowing about its training."""
    facts = {
        "seed": str(RECIPE.seed),
        "steps": str(step),
        "text": hashlib.sha256(DEFINITIONS.read_bytes()).hexdigest(),
        **{f"loss on {name} lines": of_lines[-1] for name, of_lines in losses.items()},
        **{
            f"losses on {name} lines": " ".join(of_lines)
            for name, of_lines in losses.items()
        },
        "every": str(EVERY),
    }
    half = {name: p.detach().half() for name, p in model.state_dict().items()}
    save_file(half, CHECKPOINT, metadata=facts)


if __name__ == "__main__":
    main()
