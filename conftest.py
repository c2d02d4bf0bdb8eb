"""Loads the rules by which nbval judges this project's notebooks, keeps what they import out of the home folder and on one thread."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as the command line sets it: on small tensors, threads only wait
os.environ["KERAS_HOME"] = os.devnull  # Keras writes its settings there, and goes on where it cannot
pytest_plugins = ["tests.nbval_rules"]
