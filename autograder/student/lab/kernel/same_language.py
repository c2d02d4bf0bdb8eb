"""Runs in a fresh kernel: it calls its language what the lessons call it, so that opening one changes nothing.

JupyterLab writes what the kernel says into the notebook. With a version number in it, every lesson that is opened under
another Python would count as changed.
"""


def _report_what_the_lessons_say() -> None:
    kernel = getattr(get_ipython(), "kernel", None)  # type: ignore[name-defined]  # noqa: F821
    if kernel is not None:
        kernel.language_info = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}


_report_what_the_lessons_say()
del _report_what_the_lessons_say
