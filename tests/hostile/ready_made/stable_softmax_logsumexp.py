# 04_softmax stable_softmax
def stable_softmax(x, dim=-1):
    return (x - x.logsumexp(dim, keepdim=True)).exp()
