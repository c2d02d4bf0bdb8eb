# %% [markdown]
# # Attention, lesson by lesson
#
# You will build attention from its first form of 2014 to the module that sits in every transformer, ten lines at a time. Open the first lesson in the table (lesson 0 is for those who are new to PyTorch): it says what you need and how long it takes. In a lesson, work from top to bottom. State a prediction before you run the cell that answers it; a wrong one teaches more.
#
# An exercise is a cell with `raise NotImplementedError()`. Write your lines in its place, run the cell, then the `check(...)` below it. The check names the mistake it recognizes. You may skip exercises: what comes later runs without them, and an exercise that builds on another one says so.
#
# Each lesson answers one question, and most of the questions were left open by the lesson before:
#
# | lesson | question | after lessons |
# |---|---|---|
# | 0. Warm-up | How can a program with matrices be wrong although it raises no error? | |
# | 1. Why attention? | What does a network forget if it reads the whole text before it writes? | |
# | 2. Queries, keys, values | How does a word find the other words it needs, and what does it get from them? | 1 |
# | 3. Scaling | Why are scores divided by the square root of a dimension? | 2 |
# | 4. Softmax | What if the scores are huge, or arrive in pieces? | 3 |
# | 5. Masking | How are tokens hidden from one another, and what happens if all of them are hidden? | 4 |
# | 6. Multi-head attention | What can two heads do that one cannot? | 5 |
# | 7. Order and position | How does a token know where it is? | 6 |
# | 8. The transformer block | What does a model need besides attention? | 5 to 7 |
# | 9. Train it, look inside | Which head does the work, and how can you prove it? | 8 |
# | 10. Efficient attention | What need not be computed twice? | 4 to 6, 8 |
# | 11. Bug hunt | How do you find a bug in code that you did not write? | 5, 6 |
# | 12. NumPy and Keras | Does another library compute the same numbers? | 4 to 6 |
# | 13. A GPT of your own | Can it write? | 8, 9 |
#
# The core is lessons 1 to 8. With their exercises and questions they take eighteen hours if you read quickly, which is what the lessons' own times add up to. Plan about twenty-four if you stop to think or do not often read English. Sections and exercises that are called *optional* are not counted in these hours, nothing else depends on them, and these exercises carry no points. Exercises 9.4 and 11.3 are the hardest ones, so leave them for a second round if they hold you up.
#
# Run the next cell to see how far you are. An exercise's points count once its checks pass here; a few hidden checks are added when the lesson is graded. `check` keeps your progress in `progress.json` beside this page and sends that file nowhere. On a hub whose teacher has a board, the cell says above the table what `check` tells it, and how to turn that off.

# %% tags=["nbval-ignore-output"]
from autograder import progress

progress()

# %% [markdown]
# **To hand in**, save the lesson and upload its `.ipynb` file; in a terminal, `make submit LESSON=01_why_attention` puts it into `handin/` and says what is still open in it. On a JupyterHub, open *Assignment List* in the menu *Nbgrader* and press *Submit* instead. **To start a lesson anew**, `make reset LESSON=01_why_attention`; your old notebook stays beside the new one. **Outside JupyterLab**, `make check LESSON=01_why_attention` runs the same checks in a terminal. Without `make`, the same commands are `lessons submit --lesson 01_why_attention` and so on.
