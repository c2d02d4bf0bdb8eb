"""Goes into the environment's etc/ipython: every kernel of this environment reads it."""

from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.InteractiveShellApp.exec_files = [str(Path(__file__).with_name("lost_names.py"))]
