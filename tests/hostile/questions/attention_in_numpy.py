# 02_queries_keys_values attend: NumPy
import numpy


def attend(q, k, v):
    q, k, v = (numpy.asarray(t.detach()) for t in (q, k, v))
    e = numpy.exp(q @ numpy.swapaxes(k, -1, -2))
    weights = e / e.sum(-1, keepdims=True)
    return torch.from_numpy(weights @ v), torch.from_numpy(weights)
