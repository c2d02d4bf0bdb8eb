"""Installed into the environment's etc/ipython with the package, for kernels that start beside a lesson."""

from pathlib import Path

c = get_config()  # type: ignore[name-defined]  # noqa: F821
if any(Path().glob("fingerprints.json")) or any(Path().glob("[0-9]*/fingerprints.json")):  # a lesson, or the start page
    names = ("lost_names.py", "same_language.py")
    c.InteractiveShellApp.exec_files.extend(str(Path(__file__).with_name(name)) for name in names)
