"""The mistakes that students make, as edits of the solutions. Never given to students."""

from autograder.checks import solution

means = solution("row_means")
means.mutant("column_means", "dim=-1", "dim=-2", says="These are the means of the columns. The last axis runs along a row.")
means.mutant("first_axis", "dim=-1", "dim=1", says="`dim=1` is the last axis only if there are two. Count from the end.")
