# PyTorch's own attention
# control: points
# earns: rest
import torch.nn.functional as F
def attend(query, key, value):
    weights = (query @ key.mT).softmax(-1)
    return F.scaled_dot_product_attention(query, key, value, scale=1.0), weights
