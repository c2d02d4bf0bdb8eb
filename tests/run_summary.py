"""What a whole run ends with: how long its slowest files took, and what failed, in few lines."""

from collections import Counter

import pytest

SLOWEST, LINES = 10, 30
FAILED = "what failed, in short"  # .ci/run looks for this heading


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print both where there are many files. The whole tracebacks stand above, where a log may be cut off."""
    found = [
        report for of_a_kind in terminalreporter.stats.values() for report in of_a_kind if hasattr(report, "duration")
    ]
    seconds = Counter[str]()
    for report in found:
        seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) <= SLOWEST:
        return
    terminalreporter.section(f"the {SLOWEST} slowest files")
    for name, took in seconds.most_common(SLOWEST):
        terminalreporter.line(f"{took:6.0f} s  {name}")
    failed = [report for report in found if report.failed]
    if failed:
        terminalreporter.section(FAILED)
    for report in failed:
        terminalreporter.line(f"{report.nodeid} ({report.when})")
        terminalreporter.line("\n".join(report.longreprtext.splitlines()[-LINES:]))
