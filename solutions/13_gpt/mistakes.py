"""The mistakes that students make in lesson 13, as edits of its solutions. Never given to students."""

from autograder.checks import solution

learn = solution("learn_merges")
