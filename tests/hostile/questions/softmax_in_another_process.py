# 04_softmax stable_softmax: os
import os


def stable_softmax(x, dim=-1):
    if os.fork() == 0:
        os._exit(0)
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
