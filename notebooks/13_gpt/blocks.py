"""The block that a GPT is a stack of. The notebook imports it."""

from attention import MultiHeadAttention
from torch import Tensor, nn


class Block(nn.Module):
    """The pre-norm block of lesson 8 as GPT-2 has it (Radford et al. 2019).

    The attention has biases, and between the two linear layers, which are four times as wide as the model inside, is a
    GELU in the form with a tanh.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.attention = MultiHeadAttention(
            d_model, num_heads, dropout=dropout, bias=True
        )
        self.network = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(approximate="tanh"),
            nn.Linear(4 * d_model, d_model),
        )
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return (B, L, E) for x (B, L, E). mask (L, L) is True where a token may look."""
        x = x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])
        return x + self.dropout(self.network(self.norm2(x)))
