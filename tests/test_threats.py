"""THREATS.md names tests that exist and prints on a page; the list of cheats and their files name one another."""

import re
from pathlib import Path

HERE = Path(__file__).parent
THREATS = (HERE.parent / "autograder/grading/sandbox/THREATS.md").read_text(encoding="utf-8")
CHEATS = (HERE / "hostile" / "README.md").read_text(encoding="utf-8")


def last_column(text: str) -> list[str]:
    return [line.split("|")[-2] for line in text.splitlines() if line.startswith("| ")]


def test_every_cheat_is_listed_and_every_listed_one_is_there() -> None:
    named = {name for cell in last_column(CHEATS)[1:] for name in re.findall(r"`(\w+)`", cell)}
    assert named == {path.stem for path in (HERE / "hostile" / "cheats").glob("*.py")}


def test_every_wall_names_a_test_that_exists() -> None:
    walls = last_column(THREATS)[1:]
    named = [re.findall(r"`(test_\w+\.py)`", cell) for cell in walls]
    assert len(walls) > 5
    assert all(named)
    assert {name for names in named for name in names} <= {path.name for path in HERE.glob("test_*.py")}
