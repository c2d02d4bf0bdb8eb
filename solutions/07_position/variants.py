"""Right answers of lesson 7 written another way, as edits of its solutions. Never given to students."""

import math

import torch

from autograder.checks import solution


def angles_of(x, positions, base, dtype=torch.float32):
    """Return the angle of each pair at each position."""
    if positions is None:
        positions = torch.arange(x.size(-2), device=x.device)
    even = torch.arange(0, x.size(-1), 2, device=x.device)
    return positions[..., None] * (1.0 / base ** (even.to(dtype) / x.size(-1)))


sinusoids = solution("sinusoidal_positions")
sinusoids.variant("entry_by_entry", body="""
    rows = []
    for p in range(length):
        turns = [p / base ** (j // 2 * 2 / d_model) for j in range(d_model)]
        rows.append([math.cos(t) if j % 2 else math.sin(t) for j, t in enumerate(turns)])
    return torch.tensor(rows)""")
sinusoids.variant("by_exponentials", "torch.arange(length)[:, None] / base ** (even / d_model)",
    "torch.arange(length).unsqueeze(1) * torch.exp(even * -(math.log(base) / d_model))")
sinusoids.variant("as_shifted_sines_in_float64", body="""
    column = torch.arange(d_model, dtype=torch.float64)
    turns = torch.arange(length)[:, None] * float(base) ** -((column - column % 2) / d_model)
    return torch.sin(turns + column % 2 * torch.pi / 2).float()""")
sinusoids.variant("by_complex_numbers", body="""
    turns = torch.outer(torch.arange(length).float(), torch.pow(base, torch.arange(0, d_model, 2) / -d_model))
    pairs = torch.view_as_real(torch.polar(torch.ones_like(turns), turns)).flip(-1)
    return pairs.reshape(length, -1)[:, :d_model]""")

rope = solution("apply_rope")
rope.variant("by_complex_numbers", body="""
    turns = angles_of(x, positions, base)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(turns), turns)).flatten(-2).type_as(x)""")
rope.variant("by_a_quarter_turn", body="""
    turns = angles_of(x, positions, base).repeat_interleave(2, dim=-1)
    quarter = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * turns.cos() + quarter * turns.sin()).to(x.dtype)""")
rope.variant("by_rotation_matrices", body="""
    turns = angles_of(x, positions, base, torch.float64)
    columns = [torch.stack([turns.cos(), turns.sin()], dim=-1), torch.stack([-turns.sin(), turns.cos()], dim=-1)]
    pairs = x.unflatten(-1, (-1, 2)).double()
    return torch.einsum("...ij,...j->...i", torch.stack(columns, dim=-1), pairs).flatten(-2).to(x.dtype)""")
rope.variant("written_into_a_new_tensor", body="""
    turns, out = angles_of(x, positions, base), torch.zeros_like(x)
    cos, sin = turns.cos().to(x.dtype), turns.sin().to(x.dtype)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
    return out""")
rope.variant("in_loops", body="""
    turns = angles_of(x, positions, base).expand(*x.shape[:-1], -1).reshape(-1, x.shape[-1] // 2)
    rows, out = x.reshape(-1, x.shape[-1]), torch.empty_like(x).reshape(-1, x.shape[-1])
    for row in range(len(rows)):
        for i, turn in enumerate(turns[row].tolist()):
            one, two = rows[row, 2 * i].clone(), rows[row, 2 * i + 1].clone()
            out[row, 2 * i] = one * math.cos(turn) - two * math.sin(turn)
            out[row, 2 * i + 1] = one * math.sin(turn) + two * math.cos(turn)
    return out.reshape(x.shape)""")

bias = solution("alibi_bias")
bias.variant("by_a_geometric_sequence", body="""
    start = 2 ** (-8 / num_heads)
    full = torch.abs(torch.arange(k_len)[None, :] - torch.arange(k_len)[:, None])
    return torch.stack([-slope * full[-q_len:] for slope in [start * start**i for i in range(num_heads)]])""")
bias.variant("by_exp2_in_float64", "2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)",
    "torch.exp2(-torch.arange(1, num_heads + 1, dtype=torch.float64) * 8 / num_heads)",
    "-slopes[:, None, None] * distance", "(slopes.view(-1, 1, 1) * -torch.max(distance, -distance)).float()")
bias.variant("written_head_by_head", body="""
    bias = torch.zeros(num_heads, q_len, k_len)
    for h in range(num_heads):
        for i in range(q_len):
            bias[h, i] = -(0.5 ** (8 * (h + 1) / num_heads)) * (i + k_len - q_len - torch.arange(k_len)).abs()
    return bias""")
bias.variant("by_pytorchs_distances", body="""
    keys = torch.arange(float(k_len))[:, None]
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)
    return -torch.einsum("h,ls->hls", slopes, torch.cdist(keys[k_len - q_len :], keys, p=1))""")
bias.variant("by_exponentials", "2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)",
    "torch.exp(-8 * math.log(2) * torch.linspace(1 / num_heads, 1, num_heads))",
    "-slopes[:, None, None] * distance", "slopes[:, None, None] * torch.minimum(distance, -distance)")
