"""The table in THREATS.md and the cheats under tests/hostile/cheats name one another."""

import re
from pathlib import Path

HERE = Path(__file__).parent
TEXT = (HERE.parent / "autograder/grading/sandbox/THREATS.md").read_text(encoding="utf-8")


def test_every_threat_has_its_cheat_and_every_cheat_its_threat() -> None:
    last = [line.split("|")[-2] for line in TEXT.splitlines() if line.startswith("| ")]
    named = {name for cell in last for name in re.findall(r"`(\w+)`", cell)}
    assert named == {path.stem for path in (HERE / "hostile" / "cheats").glob("*.py")}
