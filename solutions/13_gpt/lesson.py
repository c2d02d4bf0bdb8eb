# %% [markdown]
# # 13. A GPT of your own
#
# ### The model

# %% setup
import torch
from attention import MultiHeadAttention
from torch import Tensor, nn

from autograder import check

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_flush_denormal(True)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# The block is that of lesson 8, with two differences that GPT-2 made: the linear layers of the attention have biases, and the feed-forward network has a GELU, in the form with a tanh, where yours had a ReLU.


# %%
class Block(nn.Module):
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
        x = x + self.dropout(self.attention(self.norm1(x), mask=mask)[0])
        return x + self.dropout(self.network(self.norm2(x)))


# %% [markdown]
# ### Exercise 13.3: the model


# %% exercise GPT
class GPT(nn.Module):
    """A decoder-only transformer: which token comes next, at every position (Radford et al. 2019).

    Layers: token_embedding is nn.Embedding(vocab_size, d_model), position_embedding is nn.Embedding(max_len, d_model),
    blocks is an nn.ModuleList of num_layers times Block(d_model, num_heads, dropout), norm is nn.LayerNorm(d_model).
    The output matrix is that of token_embedding; there are no other parameters. All matrices, those of the embeddings
    too, begin as normal numbers with a standard deviation of 0.02.
    In training, dropout also acts on the sum of the embeddings. Sequences longer than max_len raise a ValueError.
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        num_layers: int,
        *,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(
            Block(d_model, num_heads, dropout) for _ in range(num_layers)
        )
        self.norm = nn.LayerNorm(d_model)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)
        ### END SOLUTION

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits (B, L, vocab_size) for tokens (B, L): what comes after each of them."""
        ### BEGIN SOLUTION
        length, max_len = tokens.size(1), self.position_embedding.num_embeddings
        if length > max_len:
            raise ValueError(f"{length} tokens, but at most {max_len} fit")
        positions = torch.arange(length, device=tokens.device)
        x = self.token_embedding(tokens) + self.position_embedding(positions)
        x, causal = self.dropout(x), positions[:, None] >= positions  # (L, L)
        for block in self.blocks:
            x = block(x, causal)
        return self.norm(x) @ self.token_embedding.weight.mT
        ### END SOLUTION


# %% check GPT
