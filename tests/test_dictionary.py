"""Lesson 13's definitions and tokens, the model that ships with it, and the one with options."""

import hashlib
import importlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors import safe_open

from autograder.authoring.lesson_package import package_of
from autograder.judging.modules import importable
from autograder.paths import find_course

LESSON = find_course().lesson("13_gpt")
SYNSETS = """\
  1 This software is provided under this license.
  2
  3 Copyright
00001 00 n 01 titrator 0 001 @ 00002 n 0000 | (chemistry) an apparatus for performing a titration; "he had one"
00003 00 n 02 Big_Ben 0 big_bell 0 000 | a large bell in the tower of a building
00004 00 s 01 afoot(p) 0 000 | traveling by foot:
00005 00 v 01 nap 0 000 | sleep
00006 00 n 01 rung 0 000 | (a step of a ladder (seldom used; see also step)
00007 00 n 01 insult 0 000 | a vulgar thing to say to somebody
"""


@pytest.fixture(scope="module")
def lesson() -> Iterator[Any]:
    """Lesson 13's modules and its text; its files are read from its folder."""
    source = package_of(LESSON).source
    with importable(source.modules, source.folder), pytest.MonkeyPatch.context() as patch:
        names = ("dictionary", "measure", "modern", "training", "wordnet")
        modules = SimpleNamespace(**{name: importlib.import_module(name) for name in names})
        patch.chdir(LESSON.folder)
        modules.text = modules.dictionary.Dictionary()
        yield modules


@pytest.fixture(scope="module")
def reference() -> Any:
    return package_of(LESSON).key.reference


def test_definitions_are_short_clauses_of_plain_words(lesson: Any) -> None:
    lines = SYNSETS.splitlines()
    assert list(lesson.wordnet.definitions(lines)) == [
        "titrator: an apparatus for performing a titration",
        "afoot: traveling by foot",
    ]
    assert lesson.wordnet.license_of(lines) == "This software is provided under this license.\nCopyright"


def test_without_wordnet_a_message_says_how_to_get_it(lesson: Any, tmp_path: Any) -> None:
    with pytest.raises(SystemExit, match=r"data\.noun: there is no such file\..*apt-get install wordnet-base"):
        lesson.wordnet.write(tmp_path / "text", tmp_path)


def test_the_text_carries_its_license_and_is_small(lesson: Any) -> None:
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in lesson.text.license
    assert len(lesson.text.lines) == len(set(lesson.text.lines)) > 60_000
    assert (LESSON.folder / "definitions.txt.xz").stat().st_size < 1_000_000


def test_no_word_is_both_seen_and_unseen(lesson: Any) -> None:
    seen, unseen = ({line.split(":")[0] for line in lines} for lines in (lesson.text.seen, lesson.text.unseen))
    assert not seen & unseen
    assert 0.04 < len(unseen) / len(seen | unseen) < 0.06


def test_tokens_spell_their_line_and_fit_the_model(lesson: Any) -> None:
    text = lesson.text
    lines = text.lines[::50]
    assert [text.decode(text.row(line)) for line in lines] == lines
    assert max(len(text.row(line)) for line in text.lines) - 1 <= lesson.training.MAX_LEN
    assert len(text.tokens) == len(set(text.tokens)) == 2048


def test_the_merges_and_the_splits_are_those_of_the_exercises(lesson: Any, reference: Any) -> None:
    text = lesson.text
    counts = lesson.dictionary.word_counts(text.seen)
    assert reference["learn_merges"](counts, 5) == text.merges[:5]
    for piece in [piece for piece in counts if piece[0] == " "][::1000]:
        assert [text.tokens[number] for number in text.encode(piece[1:])] == reference["split_word"](piece, text.merges)


def test_a_quotation_is_the_longest_run_of_words(lesson: Any) -> None:
    quotations = lesson.dictionary.Quotations(["owl: a bird of the night", "bat: a flying mammal of the night"])
    assert quotations.nearest("moth: an insect of the night") == ("owl: a bird of the night", "of the night")
    assert quotations.nearest("kiwi: a flying bird") == ("bat: a flying mammal of the night", "a flying")
    assert quotations.nearest("rock: stone") == ("", "")


def test_shares_tell_words_quotations_and_whole_lines(lesson: Any) -> None:
    quotations = lesson.dictionary.Quotations(["owl: a bird of the night", "bat: a flying mammal"])
    known, runs, whole = quotations.shares(["jay: a flying mammal", "jay: a bird xyz", "jay:"])
    assert (known, runs, whole) == pytest.approx((5 / 6, (1 + 2 / 3 + 0) / 3, 1 / 3))


def test_the_model_without_options_is_that_of_the_exercise(lesson: Any, reference: Any) -> None:
    sizes = (50, 12, 16, 2, 2)
    model, other = lesson.modern.GPT(*sizes), reference["GPT"](*sizes)
    other.load_state_dict(model.state_dict())
    tokens = torch.randint(50, (3, 12))
    assert torch.allclose(model(tokens), other(tokens), atol=1e-5)


def test_every_option_leaves_a_causal_model_of_the_same_size(lesson: Any) -> None:
    tokens = torch.randint(2048, (1, 9))
    for options in lesson.measure.TODAY.values():
        equal = lesson.measure.equally_large(options)
        assert lesson.measure.parameters(**equal) == pytest.approx(lesson.measure.parameters(), rel=1e-3)
        model = lesson.modern.GPT(2048, **lesson.training.SMALL, **equal)
        assert torch.allclose(model(tokens)[:, :5], model(tokens[:, :5]), atol=1e-5)


def test_rotated_queries_and_keys_know_distances_only(lesson: Any) -> None:
    q, k = torch.randn(2, 8).unsqueeze(1).expand(2, 10, 8)
    scores = lesson.modern.rotate(q) @ lesson.modern.rotate(k).mT
    assert torch.allclose(scores[1:, 1:], scores[:-1, :-1], atol=1e-4)


def test_batches_hold_whole_lines_of_like_length(lesson: Any) -> None:
    rows = [lesson.text.row(line) for line in lesson.text.unseen[:320]]
    drawn = lesson.training.batches(rows, 32, 10)
    whole = [next(drawn) for _ in range(32)]
    read = sorted([0, *targets[targets >= 0].tolist()] for _, batch in whole for targets in batch)
    assert read == sorted(rows)
    assert sum(tokens.numel() for tokens, _ in whole) < 1.1 * sum(map(len, rows))


@pytest.mark.parametrize("lines", [3, 47, 320])
def test_a_short_text_has_batches_too(lesson: Any, lines: int) -> None:
    rows = [lesson.text.row(line) for line in lesson.text.unseen[:lines]]
    assert len(list(lesson.training.batches(rows, 40))) == 40


def test_the_shipped_model_is_what_its_notes_say(lesson: Any) -> None:
    training, text = lesson.training, lesson.text
    path = LESSON.folder / training.CHECKPOINT
    with safe_open(path, "pt") as file:
        digest = file.metadata()["text"]
    assert digest == hashlib.sha256((LESSON.folder / "definitions.txt.xz").read_bytes()).hexdigest()
    assert path.stat().st_size <= 8_000_000
    model = lesson.modern.GPT(len(text.tokens), **training.LARGE)
    facts = training.load(model)
    for name, lines in (("seen", text.seen), ("unseen", text.unseen)):
        assert float(facts[f"loss on {name} lines"]) == pytest.approx(training.loss_on(model, text, lines), abs=0.002)
    assert training.define(model, text, "expiratory", seed=19).startswith("expiratory: of or relating to")
