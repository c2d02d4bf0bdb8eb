# 02_queries_keys_values attend: torch.onnx.ops
import torch.onnx.ops


def attend(q, k, v):
    def as_heads(t):
        return t.reshape(-1, 1, *t.shape[-2:])

    out = torch.onnx.ops.attention(*map(as_heads, (q, k, v)), scale=1.0)[0]
    return out.reshape(*q.shape[:-1], v.shape[-1]), (q @ k.mT).softmax(dim=-1)
