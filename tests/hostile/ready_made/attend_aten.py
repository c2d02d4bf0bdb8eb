# 02_queries_keys_values attend
ready = torch.ops.aten._scaled_dot_product_attention_math


def attend(q, k, v):
    return ready(q, k, v, scale=1.0)
