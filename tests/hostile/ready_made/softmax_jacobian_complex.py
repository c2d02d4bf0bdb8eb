# 03_scaling softmax_jacobian
def softmax_jacobian(w):
    w, rows = w.double(), []
    for j in range(w.shape[-1]):
        moved = w * (1 + 1e-20j * (torch.arange(w.shape[-1]) == j))
        rows.append((moved / moved.sum(-1, keepdim=True)).imag / 1e-20)
    return torch.stack(rows, -1)
