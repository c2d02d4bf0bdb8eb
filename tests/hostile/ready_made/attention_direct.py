# 05_masking scaled_dot_product_attention
def scaled_dot_product_attention(q, k, v, mask=None, *, scale=None):
    return F.scaled_dot_product_attention(q, k, v, mask, scale=scale), None
