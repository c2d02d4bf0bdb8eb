# %% [markdown]
# # Attention, lesson by lesson
#
# You will build attention from its first form of 2014 to the module that sits in every transformer, ten lines at a time. Open the first lesson in the table (lesson 0 is for those who are new to PyTorch): it says what you need and how long it takes. In a lesson, work from top to bottom. State a prediction before you run the cell that answers it; a wrong one teaches more.
#
# An exercise is a cell with `raise NotImplementedError()`. Write your lines in its place, run the cell, then the `check(...)` below it. The check names the mistake it recognizes. You may skip exercises; nothing later needs them.
#
# Run the next cell to see how far you are. An exercise's points count once its checks pass here; a few hidden checks are added when the lesson is graded. `check` keeps your progress in `progress.json` beside this page and sends that file nowhere. On a hub whose teacher has a board, the cell says above the table what `check` tells it, and how to turn that off.

# %% tags=["nbval-ignore-output"]
from autograder import progress

progress()

# %% [markdown]
# **To hand in**, save the lesson and upload its `.ipynb` file; in a terminal, `make submit LESSON=01_why_attention` puts it into `handin/` and says what is still open in it. On a JupyterHub, open *Assignment List* in the menu *Nbgrader* and press *Submit* instead. **To start a lesson anew**, `make reset LESSON=01_why_attention`; your old notebook stays beside the new one. **Outside JupyterLab**, `make check LESSON=01_why_attention` runs the same checks in a terminal. Without `make`, the same commands are `lessons submit --lesson 01_why_attention` and so on.
