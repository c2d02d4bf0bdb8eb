# 02_queries_keys_values attend: torch._inductor.fx_passes.fuse_attention
def attend(q, k, v):
    from torch._inductor.fx_passes.fuse_attention import _sfdp_pattern_1

    return _sfdp_pattern_1(q, k, v, 1.0), (q @ k.mT).softmax(dim=-1)
