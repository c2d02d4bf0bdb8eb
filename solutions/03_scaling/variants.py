"""Right answers of lesson 3 written another way, as edits of its solutions. Never given to students."""

import torch

from autograder.checks import solution

scale = solution("scale_scores")
scale.variant("root_in_float32", body="""
    return scores / torch.sqrt(torch.tensor(d_k, dtype=torch.float32)).to(scores.dtype)""")
scale.variant("root_as_a_power", body="return scores * d_k**-0.5")

spread = solution("score_std")
spread.variant("drawn_in_columns", body="""
    k = torch.randn(d_k, n, generator=generator, dtype=torch.float64)
    scores = torch.einsum("dn,dn->n", torch.randn(d_k, n, generator=generator, dtype=torch.float64), k)
    return scores.std(correction=0).item(), float((scores / d_k**0.5).std())""")

jacobian = solution("softmax_jacobian")
jacobian.variant("by_einsum",
    body='return torch.diag_embed(weights) - torch.einsum("...i,...j->...ij", weights, weights)')

attend = solution("scaled_attend")
attend.variant("keys_scaled_in_float32", body="""
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    weights = (query @ (factor * key).mT).softmax(dim=-1, dtype=torch.float32).to(query.dtype)
    return weights @ value, weights""")

response = solution("query_jacobian")
response.variant("by_einsum", body="""
    products = torch.einsum("...ls,...sv,...sd->...lvd", weights, value, key)
    means = torch.einsum("...lv,...ld->...lvd", weights @ value, weights @ key)
    return (products - means) * scale""")
response.variant("centered_first", body="""
    values = value.unsqueeze(-3) - (weights @ value).unsqueeze(-2)
    keys = key.unsqueeze(-3) - (weights @ key).unsqueeze(-2)
    return scale * (values.mT * weights.unsqueeze(-2)) @ keys""")
response.variant("by_the_jacobian_of_softmax", body="""
    tables = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return value.mT.unsqueeze(-3) @ tables @ key.unsqueeze(-3) * scale""")
