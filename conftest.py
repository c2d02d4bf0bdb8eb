"""Loads the rules by which nbval judges this project's notebooks."""

pytest_plugins = ["tests.nbval_rules"]
