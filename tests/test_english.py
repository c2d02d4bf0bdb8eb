"""What readers stumbled over: words and phrases that no text of this project uses."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("solutions/*/*.py"),
    *ROOT.glob("solutions/*.py"),
    *ROOT.glob("autograder/**/*.py"),
]
STUMBLES = {
    "shall": r"\bshall\b",
    "to the last digit": r"to the last digit",
    "is right always": r"\bright always\b|\bis always no\b",
    "works alike": r"\bworks? alike\b",
    "turned round": r"\bturned? a?round\b(?! the)|\bthe other way round\b|\bother way round mask\b",
    "mend": r"\bmend(s|ed|ing)?\b",
    "hand on, is handed in": r"\bhand(s|ed)? on\b|\b(is|are|was|were) handed in \(",
    "something else than": r"\bsomething else than\b",
    "belongs into": r"\bbelongs? into\b",
    "is no exercise": r"(?<!there )\bis no (exercise|question|mistake|module|student|law)\b",
    "needs no look": r"\bneeds no look\b",
    "worth the name": r"\bworth the name\b",
    "answers to its scores": r"\banswers to (its|each) score",
    "whoever gets": r"\bWhoever (gets|has)\b",
    "learned are only": r"\b(Learned|Trained|Asked for) (are|is) only\b",
    "filled up with": r"\bfilled up with\b",
    "the numbers a computer has run out": r"numbers .{0,30}have run out|computer has run out",
    "enters nowhere": r"\benters nowhere\b",
    "a softmax that holds": r"softmax that holds\b",
}


def test_nothing_that_readers_stumbled_over_is_left() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in TEXTS}
    found = [(path, name) for path, text in texts.items() for name in STUMBLES if re.search(STUMBLES[name], text)]
    assert found == []


def test_the_list_finds_what_it_is_for() -> None:
    assert re.search(STUMBLES["mend"], "the output was mended")
    assert re.search(STUMBLES["hand on, is handed in"], "what heads hand on")
    assert not re.search(STUMBLES["mend"], "recommended")
