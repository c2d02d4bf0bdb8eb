# 02_queries_keys_values attend: numpy
import numpy


def attend(q, k, v):
    def table(t):
        data = bytes(t.detach().clone(memory_format=torch.contiguous_format).untyped_storage())
        return numpy.frombuffer(data, dtype={4: "f4", 8: "f8"}[t.element_size()]).reshape(t.shape)

    if q.requires_grad:
        e = (q @ k.mT - (q @ k.mT).amax(dim=-1, keepdim=True)).exp()
        weights = e / e.sum(dim=-1, keepdim=True)
        return weights @ v, weights
    a, b, c = (table(t) for t in (q, k, v))
    e = a @ numpy.swapaxes(b, -1, -2)
    e = numpy.exp(e - e.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    return torch.tensor((weights @ c).tolist(), dtype=q.dtype), torch.tensor(weights.tolist(), dtype=q.dtype)
