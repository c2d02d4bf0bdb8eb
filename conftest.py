"""Loads the rules by which nbval judges this project's notebooks, and keeps what they import out of the home folder."""

import os

os.environ["KERAS_HOME"] = os.devnull  # Keras writes its settings there, and goes on where it cannot
pytest_plugins = ["tests.nbval_rules"]
