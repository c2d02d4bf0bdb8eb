"""Lesson 13's reference against independent oracles: the library transformers, PyTorch, and slower code."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor, nn

from autograder.authoring.lesson_package import package_of
from autograder.grading.grade import question_about
from autograder.judging.intact import remember_classes
from autograder.judging.modules import importable
from autograder.judging.values import Returned
from autograder.paths import find_course

from .published_gpt2 import as_published, library_model

LESSON = find_course().lesson("13_gpt")
KEY = package_of(LESSON).key
REFERENCE = KEY.reference


@pytest.fixture(scope="module")
def published() -> Iterator[Any]:
    with importable(KEY.source.modules, KEY.source.folder):
        import published

        yield published


# Byte pairs

WORDS = st.dictionaries(st.text("abc", min_size=1, max_size=7), st.integers(1, 4), max_size=6)


def slowly_learned(words: dict[str, int], merges: int) -> list[tuple[str, str]]:
    """Learn merges from words written with spaces between tokens, by replacing text."""
    texts, learned = {word: f" {' '.join(word)} " for word in words}, []
    for _ in range(merges):
        pairs = {tuple(t.split()[i : i + 2]) for t in texts.values() for i in range(len(t.split()) - 1)}
        found = [(-sum(n * doubled(texts[w]).count(spaced(p)) for w, n in words.items()), p) for p in pairs]
        if not found:
            break
        best = min(found)[1]
        texts = {w: doubled(t).replace(spaced(best), f" {''.join(best)} ") for w, t in texts.items()}
        texts = {w: f" {' '.join(t.split())} " for w, t in texts.items()}
        learned.append(best)
    return learned


def doubled(text: str) -> str:
    return text.replace(" ", "  ")


def spaced(pair: tuple[str, ...]) -> str:
    return f" {pair[0]}  {pair[1]} "


@given(WORDS, st.integers(0, 8))
def test_learned_merges_are_those_of_replaced_texts(words: dict[str, int], merges: int) -> None:
    assert REFERENCE["learn_merges"](words, merges) == slowly_learned(words, merges)


@given(WORDS, st.text("abcd", max_size=9))
def test_tokens_are_those_of_the_library(words: dict[str, int], word: str) -> None:
    models = pytest.importorskip("tokenizers.models", reason="the dev extra has transformers")
    merges = REFERENCE["learn_merges"](words, 8)
    tokens = [*"abcd", *dict.fromkeys(a + b for a, b in merges)]
    library = models.BPE({token: n for n, token in enumerate(tokens)}, merges)
    assert REFERENCE["split_word"](word, merges) == [token.value for token in library.tokenize(word)]


# The recipe


@given(st.integers(0, 20), st.integers(1, 20), st.integers(0, 50))
def test_the_rate_is_that_of_pytorchs_schedules(warmup: int, rest: int, step: int) -> None:
    ours = REFERENCE["learning_rate"](step, peak=0.3, warmup=warmup, total=warmup + rest, floor=0.1)
    done = min(max((step - warmup) / rest, 0.0), 1.0)
    cosine = 0.1 + 0.1 * (1 + math.cos(math.pi * done))
    assert ours == pytest.approx(0.3 * (step + 1) / warmup if step < warmup else cosine)


def test_the_groups_hold_every_parameter_of_the_model_once() -> None:
    model = REFERENCE["GPT"](20, 8, 12, 2, 2)
    decays, others = REFERENCE["parameter_groups"](model, 0.1)
    assert sorted(map(id, decays["params"] + others["params"])) == sorted(map(id, model.parameters()))
    assert {p.dim() for p in decays["params"]} == {2}


# The next token


@given(st.integers(0, 10**6), st.sampled_from([0.5, 1.0, 2.0]), st.integers(1, 12), st.floats(0.05, 0.98))
def test_probabilities_are_those_of_the_librarys_filters(seed: int, temperature: float, k: int, p: float) -> None:
    process = pytest.importorskip("transformers.generation.logits_process", reason="the dev extra has transformers")
    logits = torch.randn(3, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    scores = process.TemperatureLogitsWarper(temperature)(None, logits) if temperature != 1 else logits
    scores = process.TopPLogitsWarper(p)(None, process.TopKLogitsWarper(k)(None, scores))
    mine = REFERENCE["next_token_probabilities"](logits, temperature=temperature, top_k=k, top_p=p)
    torch.testing.assert_close(mine, scores.softmax(dim=-1))


# Published weights


@pytest.mark.parametrize(
    ("layers", "heads", "width", "vocab", "positions"),
    [(1, 1, 4, 7, 5), (2, 2, 8, 50, 16), (3, 4, 16, 33, 9), (11, 2, 6, 20, 8), (2, 12, 96, 300, 64)],
)
def test_logits_agree_with_the_librarys(layers: int, heads: int, width: int, vocab: int, positions: int) -> None:
    pytest.importorskip("transformers", reason="the dev extra has it")
    sizes = {"n_layer": layers, "n_head": heads, "n_embd": width, "vocab_size": vocab, "n_positions": positions}
    theirs = library_model(layers, **sizes)
    tokens = torch.randint(vocab, (3, positions))
    with torch.no_grad():
        right = theirs(tokens).logits
        ours = REFERENCE["from_published"](as_published(theirs), heads)(tokens)
        again = REFERENCE["from_published"](theirs.state_dict(), heads)(tokens)
    assert right.std() > 0.5
    torch.testing.assert_close(ours, right, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(again, ours, rtol=0, atol=0)


def test_the_released_example_has_the_librarys_logits(published: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(LESSON.folder)
    weights, tokens, logits = published.example()
    with torch.no_grad():
        torch.testing.assert_close(REFERENCE["from_published"](weights, 2)(tokens), logits, rtol=1e-4, atol=1e-4)


def test_head_weights_are_those_of_the_modules(published: Any) -> None:
    torch.manual_seed(0)
    model = REFERENCE["GPT"](20, 8, 12, 2, 3)
    tokens, causal, right = torch.randint(20, (2, 8)), torch.ones(8, 8, dtype=torch.bool).tril(), []
    positions = torch.arange(8)
    with torch.no_grad():
        x = model.token_embedding(tokens) + model.position_embedding(positions)
        for block in model.blocks:
            right.append(block.attention(block.norm1(x), mask=causal, need_weights=True)[1])
            x = block(x, causal)
    torch.testing.assert_close(published.head_weights(model, tokens, 2), torch.cat(right, dim=1))


TEXT = "The café's naïve 2nd draft, isn't it?  \n\tYes — it costs $1,234.56 _or_ so 🙂"


def test_gpt2s_tokens_are_the_librarys(published: Any, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the dev extra has it")
    characters = list(published.byte_characters().values())
    merges = [
        ("Ġ", "t"),
        ("h", "e"),
        ("Ġ", "d"),
        ("Ġd", "r"),
        ("i", "t"),
        ("Ġ", "it"),
        ("'", "s"),
        ("Ã", "©"),
        ("1", ","),
    ]
    vocab = {token: n for n, token in enumerate([*characters, *(a + b for a, b in merges), "<|endoftext|>"])}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    (tmp_path / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ours = published.Tokens(tmp_path, REFERENCE["split_word"])
    theirs = transformers.GPT2Tokenizer(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert ours.encode(TEXT) == theirs(TEXT)["input_ids"]
    assert ours.decode(ours.encode(TEXT)) == TEXT


SMALL = {"vocab_size": 50_257, "max_len": 1024, "d_model": 768, "num_heads": 12, "num_layers": 12}


def parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def test_gpt2_small_has_as_many_parameters_as_is_said() -> None:
    with torch.device("meta"):
        model = REFERENCE["GPT"](**SMALL)
    assert parameters(model) == 124_439_808
    assert parameters(model) + model.token_embedding.weight.numel() == 163_037_184


def real_shapes() -> dict[str, tuple[int, ...]]:
    """Return the shapes in GPT-2 small's file, masks included."""
    e, block = 768, {}
    for name, inner, outer in (("attn.c_attn", e, 3 * e), ("attn.c_proj", e, e), ("mlp.c_fc", e, 4 * e)):
        block |= {f"{name}.weight": (inner, outer), f"{name}.bias": (outer,)}
    block |= {"mlp.c_proj.weight": (4 * e, e), "mlp.c_proj.bias": (e,), "attn.bias": (1, 1, 1024, 1024)}
    block |= {f"{norm}.{kind}": (e,) for norm in ("ln_1", "ln_2") for kind in ("weight", "bias")}
    whole = {"wte.weight": (50_257, e), "wpe.weight": (1024, e), "ln_f.weight": (e,), "ln_f.bias": (e,)}
    return whole | {f"h.{n}.{name}": shape for n in range(12) for name, shape in block.items()}


CHILD = """
import resource, sys
from pathlib import Path
import torch
from safetensors.torch import load_file
from tests.test_lesson_13 import REFERENCE, parameters
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = REFERENCE["from_published"](load_file(sys.argv[1]), 12)
with torch.no_grad():
    logits = model(torch.arange(64)[None])
print(parameters(model), *logits.shape, bool(logits.isfinite().all()))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_a_file_of_the_real_shape_takes_less_than_two_gigabytes(tmp_path: Path) -> None:
    weights: dict[str, Tensor] = {name: torch.randn(shape) / 50 for name, shape in real_shapes().items()}
    path = tmp_path / "model.safetensors"
    save_file(weights, path)
    assert abs(path.stat().st_size - 548_105_171) < 20_000
    del weights
    done = subprocess.run([sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True)
    shape, megabytes = done.stdout.splitlines()
    assert shape == "124439808 1 64 50257 True"
    assert int(megabytes) < 2000


def test_a_word_that_is_allowed_in_the_source_is_nothing_that_has_to_run() -> None:
    remember_classes()  # transformers, with which other tests compare, has changed PyTorch's
    submission = SimpleNamespace(lesson=SimpleNamespace(key=KEY), seed=5)
    for exercise in ("learn_merges", "split_word"):
        outcomes = {check.name: Returned([]) for check in KEY.checks_of(exercise)}
        run: Any = SimpleNamespace(submission=submission, outcomes={exercise: outcomes})
        assert question_about(run, exercise, outcomes) == ""
