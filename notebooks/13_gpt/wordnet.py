"""Makes definitions.txt.xz, the text of lesson 13, from WordNet 3.0: `python wordnet.py`.

Debian and Ubuntu have it as the package wordnet-base.
"""

import lzma
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

WORDNET = Path("/usr/share/wordnet")
PARTS = ("noun", "verb", "adj", "adv")
# what nobody wants to read out in class
LEFT_OUT = re.compile(
    r"\b(offensive|slurs?|disparag|derogat|obscen|vulgar|taboo|sexual|intercourse|prostitut|rape[ds]?|genital|penis"
    r"|vagina|masturbat|copulat|whore|porno|incest|negro|orgasm|semen|erotic|anus|feces|excrement|urinat)",
    re.IGNORECASE,
)


def definitions(synsets: Iterable[str]) -> Iterator[str]:
    """Yield "word: definition" for the lines of one of WordNet's data files, where both are plain enough.

    The word is the first one of a set of synonyms, if it has 2 to 20 lower-case letters and nothing else. The
    definition is the first clause of theirs, without the domain in parentheses in front, if it has 12 to 90
    characters. The license at the head of a file, whose lines are indented, is skipped.
    """
    for synset in synsets:
        fields, _, gloss = synset.partition(" | ")
        if synset.startswith("  ") or LEFT_OUT.search(gloss):
            continue
        word = re.sub(r"\(\w+\)$", "", fields.split()[4])
        clause = re.split(r'[;"]', re.sub(r"^\([^)]*\)\s*", "", gloss.strip()))[0]
        definition = " ".join(clause.split()).rstrip(" :,")
        plain = re.fullmatch(r"[a-z]{2,20}", word) and re.fullmatch(
            r"[A-Za-z0-9 ,.'()/-]{12,90}", definition
        )
        if plain and definition.count("(") == definition.count(")"):
            yield f"{word}: {definition}"


def license_of(lines: Iterable[str]) -> str:
    """Return the license at the head of a data file, without the numbers of its lines."""
    numbered = [line for line in lines if line.startswith("  ")]
    return (
        "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in numbered)
        .replace("\n\n", "\n")
        .strip()
    )


def make(folder: Path) -> str:
    """Return the license, an empty line, and all definitions without repetitions."""
    files = [
        (folder / f"data.{part}").read_text(encoding="latin-1").splitlines()
        for part in PARTS
    ]
    lines = dict.fromkeys(line for synsets in files for line in definitions(synsets))
    return f"{license_of(files[0])}\n\n" + "\n".join(lines) + "\n"


def write(path: Path, folder: Path = WORDNET) -> None:
    """Write the text, compressed; exit with a message where there is no WordNet."""
    if not (folder / "data.noun").is_file():
        sys.exit(
            f"error: {folder}/data.noun: there is no such file. Install WordNet 3.0: apt-get install wordnet-base"
        )
    path.write_bytes(
        lzma.compress(make(folder).encode("ascii"), preset=9 | lzma.PRESET_EXTREME)
    )


if __name__ == "__main__":
    write(Path("definitions.txt.xz"))
