"""Right answers of lesson 0 written another way, as edits of its solutions. Never given to students."""

import torch
import torch.nn.functional as F

from autograder.checks import solution

FOUR = {"a": torch.zeros(2, 3, 4), "b": torch.zeros(4, 5), "c": torch.zeros(3, 1), "d": torch.zeros(5)}
EXPRESSIONS = ("a @ b", "a.mT", "c + d", "a.sum(dim=-1)", "a.mean(dim=1, keepdim=True)", "a.flatten(1)")

dots = solution("pairwise_dots")
dots.variant("by_an_equation", "a @ b.mT", 'torch.einsum("...md,...nd->...mn", a, b)')
dots.variant("by_broadcasting", "a @ b.mT", "(a.unsqueeze(-2) * b.unsqueeze(-3)).sum(-1)")
dots.variant("transposed_twice", "a @ b.mT", "torch.matmul(b, a.transpose(-1, -2)).transpose(-1, -2)")
dots.variant("column_by_column", "a @ b.mT",
    "torch.stack([(a @ b[..., j, :, None])[..., 0] for j in range(b.size(-2))], dim=-1)")
dots.variant("row_by_row", body="""
    dots = torch.zeros(*a.shape[:-1], b.shape[-2], dtype=a.dtype)
    for i in range(a.shape[-2]):
        for j in range(b.shape[-2]):
            dots[..., i, j] = (a[..., i, :] * b[..., j, :]).sum(dim=-1)
    return dots""")
dots.variant("of_flattened_batches", body="""
    dots = torch.bmm(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:]).swapaxes(1, 2))
    return dots.reshape(*a.shape[:-1], b.size(-2))""")
dots.variant("as_linear", "a @ b.mT",
    "F.linear(a, b) if a.dim() == 2 else torch.stack([pairwise_dots(x, y) for x, y in zip(a, b, strict=True)])")

rows = solution("normalize_rows")
rows.variant("by_unsqueeze", "x.sum(dim=-1, keepdim=True)", "x.sum(-1).unsqueeze(-1)")
rows.variant("by_f_normalize", body="return F.normalize(x, p=1, dim=-1)")
rows.variant("by_softmax_of_logs", body="return x.log().softmax(dim=-1)")
rows.variant("in_a_loop",
    body="return x / sum(x) if x.dim() == 1 else torch.stack([normalize_rows(part) for part in x])")
rows.variant("with_an_epsilon", body='return x.div(torch.einsum("...s->...", x)[..., None] + 1e-9)')
rows.variant("of_a_copy", body="""
    made = x.clone()
    made /= made.sum(dim=-1, keepdim=True)
    return made""")
rows.variant("times_the_inverse", body="return x * (x @ torch.ones_like(x[..., :1, :]).mT).reciprocal()")
rows.variant("in_float32",
    body="return (x.float().log() - x.float().sum(dim=-1, keepdim=True).log()).exp().to(x.dtype)")

shapes = solution("shapes")
shapes.variant("by_running_them", body="return {text: eval(text, dict(FOUR)).shape for text in EXPRESSIONS}")
shapes.variant("as_lists_with_a_key_more",
    body='return {text: list(eval(text, dict(FOUR)).shape) for text in (*sorted(EXPRESSIONS), "b")}')
