"""Trains the larger model of lesson 9 and writes model.safetensors. `make pretrain` runs it; the notebook only reads.

Same text, same seed, same parameters. Takes about eight minutes on one core.
"""

import hashlib

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional
from writer import CHECKPOINT, LARGE, Text, Writer, loss_on, right_on_repeats

SEED, STEPS, BATCH, REPEATS = 0, 1500, 24, 16


class TorchBlock(nn.TransformerEncoderLayer):
    """PyTorch's pre-norm block with this course's arguments and masks: True = may attend."""

    def __init__(
        self, d_model: int, num_heads: int, d_ff: int, *, dropout: float = 0.0
    ) -> None:
        super().__init__(
            d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E) and a mask (L, L)."""
        return super().forward(x, src_mask=~mask)


def repeats(vocab: int, n: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw strings of random characters that start again after 10 to 40 of them.

    Returns what is read (n, length), and what comes next (n, length), which is -100 where nobody can know it.
    """
    generator = torch.Generator().manual_seed(seed)
    rows, known = [], []
    for _ in range(n):
        period = int(torch.randint(10, 41, (), generator=generator))
        once = torch.randperm(vocab, generator=generator)[:period]
        rows.append(once.repeat(length // period + 2)[: length + 1])
        known.append(torch.arange(length) >= period)
    strings = torch.stack(rows)
    return strings[:, :-1], strings[:, 1:].where(torch.stack(known), -100)


def main() -> None:
    """Train on 24 stretches of text and 16 repeating strings per step."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(SEED)
    text = Text()
    vocab = len(text.characters)
    model = Writer(vocab, TorchBlock, dropout=0.2, **LARGE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.003, total_steps=STEPS)
    losses: list[str] = []
    copied: list[str] = []
    for step in range(STEPS):
        x, y = text.batch(text.seen, BATCH, model.longest, seed=step)
        more_x, more_y = repeats(vocab, REPEATS, model.longest, seed=step)
        x, y = torch.cat([x, more_x]), torch.cat([y, more_y])
        loss = functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % 100 == 0:
            losses.append(f"{loss_on(model, text, text.unseen):.3f}")
            copied.append(f"{right_on_repeats(model, text):.2f}")
            print(f"{step + 1:5} {losses[-1]} {copied[-1]}", flush=True)
            model.train()
    save(model, text, losses, copied)


def save(model: Writer, text: Text, losses: list[str], copied: list[str]) -> None:
    """Write the model in half precision, with what is worth knowing about its training."""
    facts = {
        "seed": str(SEED),
        "steps": str(STEPS),
        "text": hashlib.sha256(text.text.encode()).hexdigest(),
        "loss on unseen text": losses[-1],
        "losses": " ".join(losses),
        "copied": " ".join(copied),
    }
    half = {name: p.detach().half() for name, p in model.state_dict().items()}
    save_file(half, CHECKPOINT, metadata=facts)
    print(facts)


if __name__ == "__main__":
    main()
