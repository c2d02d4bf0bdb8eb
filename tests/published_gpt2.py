"""Random checkpoints of the library transformers, saved as GPT-2's are published; run it to write lesson 13's example.

`.venv/bin/python -m tests.published_gpt2` needs the library, which the dev extra has.
"""

from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from autograder.paths import find_course


def library_model(seed: int = 0, **sizes: int) -> Any:
    """Return a GPT-2 of the library's with random parameters, gains and biases too, in float32 and eval mode."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(seed)
    model = GPT2LMHeadModel(GPT2Config(bos_token_id=0, eos_token_id=0, **sizes))
    for parameter in model.parameters():
        scale = parameter.size(0) ** -0.5 if parameter.dim() == 2 else 0.5
        torch.nn.init.normal_(parameter, std=2 * scale)
    return model.eval()


def as_published(model: Any) -> dict[str, Tensor]:
    """Return a model's weights under the names in which GPT-2's file has them: no prefix, no head, masks."""
    state = {n.removeprefix("transformer."): t.detach().clone() for n, t in model.state_dict().items()}
    del state["lm_head.weight"]
    size = model.config.n_positions
    triangle = torch.ones(1, 1, size, size).tril()
    return state | {f"h.{n}.attn.bias": triangle.clone() for n in range(model.config.n_layer)}


def main() -> None:
    """Write the example that lesson 13 releases, with the library's logits."""
    model = library_model(n_layer=2, n_head=2, n_embd=8, vocab_size=50, n_positions=16)
    tokens = torch.randint(50, (2, 16))
    with torch.no_grad():
        logits = model(tokens).logits
    path = find_course().lesson("13_gpt").folder / "published.safetensors"
    save_file(as_published(model) | {"tokens": tokens, "logits": logits}, path)
    print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
