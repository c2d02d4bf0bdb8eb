"""Right answers written another way, as edits of the solutions. Never given to students."""

from autograder.checks import solution

means = solution("row_means")
means.variant("summed_and_divided", "x.mean(dim=-1)", "x.sum(dim=-1) / x.size(-1)")
means.variant("by_einsum", body='return torch.einsum("...s->...", x) / x.shape[-1]')
