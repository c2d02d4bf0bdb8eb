"""Loads the rules by which nbval judges notebooks; keeps what they import on one thread and out of the home folder."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as the command line sets it: on small tensors, threads only wait
os.environ.setdefault("LESSON_STEPS", "8")  # of a training that takes minutes at a desk
os.environ["KERAS_HOME"] = os.devnull  # Keras writes its settings there, and goes on where it cannot
pytest_plugins = ["tests.nbval_rules", "tests.run_summary"]
