# 04_softmax stable_softmax: getattr
def stable_softmax(x, dim=-1):
    return getattr(torch.nn.functional, "_".join(["gumbel", "soft"]) + "max")(x, dim=dim)
