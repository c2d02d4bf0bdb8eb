"""What cells marked as measured claim, as ranges over several seeds."""

import copy
import importlib
import itertools
import math
import re
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from autograder.authoring.lesson import read_lesson
from autograder.authoring.lesson_package import package_of
from autograder.judging.modules import importable
from autograder.paths import find_course

from .test_lesson_01 import look

pytestmark = pytest.mark.slow  # trains models from several seeds; the lessons themselves train from one
COURSE = find_course()


def cells(lesson: str, *starts: str, seed: int = 0) -> dict[str, Any]:
    """Run a lesson's set-up and the cells that contain certain texts, from another seed."""
    found = read_lesson(COURSE.lesson(lesson))
    names: dict[str, Any] = {}
    setup = next(cell.text for cell in found if cell.kind == "setup").replace("import figures\n", "")
    sources = [setup, *(next(cell.text for cell in found if start in cell.text) for start in starts)]
    for source in sources:
        exec(re.sub(r"manual_seed\(0\)", f"manual_seed({seed})", source.split("\nplot.")[0]), names)
    torch.set_num_threads(1)
    return names


@contextmanager
def module(lesson: str, name: str) -> Iterator[Any]:
    """Import a module that lies beside a lesson."""
    source = package_of(COURSE.lesson(lesson)).source
    with importable(source.modules, source.folder):
        yield importlib.import_module(name)


SCALING = ("FACTORS = ", "def lookup_batch", "class Lookup", "def train(", "untrained = Lookup(1.0)", "class Swapped")


@pytest.fixture(scope="module", params=[0, 1, 2])
def scaling(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Lesson 3's task, its three runs and those with exchanged gradients, from one seed."""
    names = cells("03_scaling", *SCALING, seed=request.param)
    runs = {name: names["train"](names["Lookup"], factor(256)) for name, factor in names["FACTORS"].items()}
    runs["A"], runs["B"] = (names["train"](names["Swapped"], scale) for scale in (1.0, 1 / 16))
    return names | {"runs": runs}


@pytest.mark.measures("03_scaling")
def test_the_unscaled_model_has_the_largest_gradient_and_learns_badly(scaling: dict[str, Any]) -> None:
    losses = {name: run[0] for name, run in scaling["runs"].items() if name in scaling["FACTORS"]}
    assert {name for name in losses if min(losses[name]) < 0.3} == {"over √d", "over d"}
    gradients = [scaling["runs"][name][1] for name in ("unscaled", "over √d", "over d")]
    assert gradients[0] > 2 * gradients[1] > 4 * gradients[2]


@pytest.mark.measures("03_scaling")
def test_decided_queries_are_most_and_have_hardly_any_gradient(scaling: dict[str, Any]) -> None:
    decided, squares = scaling["decided"], scaling["squares"]
    assert 0.65 < decided.double().mean() < 0.85
    assert squares[decided].sum() < 0.1 * squares.sum()


@pytest.mark.measures("03_scaling")
def test_a_model_learns_if_its_gradient_comes_through_the_scaled_softmax(scaling: dict[str, Any]) -> None:
    steps = {name: below_03(scaling["runs"][name][0]) for name in ("over √d", "unscaled", "A", "B")}
    assert max(steps["over √d"], steps["A"]) < 80
    assert steps["unscaled"] == steps["B"] == 300
    assert min(sum(scaling["runs"][name][0][-20:]) / 20 for name in ("unscaled", "B")) > 1


@pytest.mark.measures("03_scaling")
def test_exchanging_gradients_changes_no_weight(scaling: dict[str, Any]) -> None:
    scores = torch.randn(3, 5, requires_grad=True)
    models = {name: scaling[name](1.0) for name in ("Lookup", "Swapped")}
    assert torch.equal(models["Swapped"].weights(scores), models["Lookup"].weights(scores))
    gradient = torch.autograd.grad(models["Swapped"].weights(scores)[:, 0].sum(), scores)[0]
    expected = torch.autograd.grad((scores / 16).softmax(dim=-1)[:, 0].sum(), scores)[0]
    torch.testing.assert_close(gradient, expected)


def below_03(losses: list[float]) -> int:
    """Return the first step whose loss is below 0.3, or how many steps there were."""
    return next((step for step, loss in enumerate(losses) if loss < 0.3), len(losses))


@pytest.mark.measures("03_scaling")
def test_over_d_a_larger_rate_makes_up_for_the_smaller_steps(scaling: dict[str, Any]) -> None:
    larger = below_03(scaling["train"](scaling["Lookup"], 1 / 256, rate=4e-3)[0])
    assert larger <= below_03(scaling["runs"]["over √d"][0]) + 5 < below_03(scaling["runs"]["over d"][0])


def test_a_default_linear_layer_has_a_third_of_the_variance() -> None:
    torch.manual_seed(1)
    outputs = torch.nn.Linear(256, 256)(torch.randn(10_000, 256)).detach()
    assert float(outputs.var()) == pytest.approx(1 / 3, abs=0.02)


HEADS = ("def questions", "class Reader", "def trained", "def each_right")


@pytest.fixture(scope="module")
def readers() -> dict[str, Any]:
    """Lesson 6's readers of digits, whose last cell trains five."""
    return cells("06_multi_head_attention", *HEADS)


@pytest.mark.measures("06_multi_head_attention")
@pytest.mark.parametrize("seed", range(5))
def test_one_head_reads_one_digit_and_two_heads_read_both(readers: dict[str, Any], seed: int) -> None:
    low, high = sorted(readers["each_right"](readers["reader"](1, seed)).tolist())
    assert low < 0.2
    assert high > 0.95
    assert min(readers["each_right"](readers["reader"](2, seed)).tolist()) > 0.95


@pytest.mark.measures("06_multi_head_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_head_of_four_goes_by_the_digits(seed: int) -> None:
    names = cells("06_multi_head_attention", "def four_answers", "class Layer", "layer = Layer()", seed=seed)
    digits, _ = names["four_answers"](500, 999)
    weights = names["layer"](digits)[1].detach()
    renamed = torch.randperm(10, generator=torch.Generator().manual_seed(1))[digits]
    moved = ((names["layer"](renamed)[1].detach() - weights).abs().sum(dim=-1) / 2).mean(dim=(0, 2))
    low, high = moved.sort().values[-2:].tolist()
    assert low < 0.2
    assert high > 0.6
    smeared = weights[:, moved.argmax()]
    by_digit = torch.stack([smeared[digits == digit].mean(dim=0) for digit in range(10)])
    assert float(by_digit.amax(dim=-1).mean()) > 0.5  # the asking digit decides on a place
    assert float(smeared.mean(dim=0).amax(dim=-1).mean()) < 0.4  # the average map does not show it
    assert float(smeared.diagonal(dim1=-2, dim2=-1).mean()) < 0.3  # and it hardly looks at itself
    layer, head = names["layer"].requires_grad_(False), int(moved.argmax())
    digit, place = layer.digit(digits), layer.place.weight
    of_values = (layer.attention.in_proj_weight.chunk(3)[2], layer.attention.in_proj_bias.chunk(3)[2])

    def here(carried: torch.Tensor) -> float:
        """Return how often the own digit is named if the values of this head carry something else than all."""
        given = (torch.nn.functional.linear(x, *of_values) for x in (digit + place, carried.expand_as(digit)))
        values, other = (x.unflatten(-1, (4, 8)).transpose(1, 2).clone() for x in given)
        values[:, head] = other[:, head]
        mixed = layer.attention.out_proj((weights @ values).transpose(1, 2).flatten(2))
        return float((layer.out(mixed)[..., 30:].argmax(dim=-1) == digits).double().mean())

    assert here(place + digit.mean(dim=(0, 1))) > 0.75  # the place that comes back says which digit asked
    assert here(digit + place.mean(dim=0)) < 0.6


def test_empty_rows_are_what_the_lessons_say_of_this_version() -> None:
    q = torch.randn(1, 2, 4)
    hidden = torch.zeros(2, 2, dtype=torch.bool)
    assert not torch.nn.functional.scaled_dot_product_attention(q, q, q, hidden).any()
    module = torch.nn.MultiheadAttention(4, 1, batch_first=True)
    assert module(q, q, q, attn_mask=~hidden)[0].isnan().all()


POSITIONS = ("def reverse", "def most_recent", "def three_back", "def most_common")


@pytest.fixture(scope="module")
def tasks() -> dict[str, Any]:
    with module("07_position", "reader"):
        return cells("07_position", *POSITIONS)


@pytest.mark.measures("07_position")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_reversing_needs_places_and_a_distance_will_not_do(tasks: dict[str, Any], seed: int) -> None:
    with module("07_position", "reader") as reader:
        right = {way: reader.train(tasks["reverse"], way, seed=seed) for way in ("none", "learned", "rotary")}
        shares = {way: reader.accuracy(model, tasks["reverse"]) for way, model in right.items()}
        assert 0.2 < shares["none"] < 0.3
        assert shares["learned"] > 0.95
        assert shares["rotary"] < 0.5
        assert reader.accuracy(right["learned"], tasks["reverse"], 17) < 0.2


LENGTHS = (16, 32, 64, 128)


def right_at(reader: Any, model: Any, task: Any) -> dict[int, float]:
    return {length: reader.accuracy(model, task, length) for length in LENGTHS}


@pytest.mark.measures("07_position")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rotary_holds_to_twice_the_length_and_the_bias_to_eight_times(tasks: dict[str, Any], seed: int) -> None:
    ways = ("none", "learned", "sinusoidal", "rotary", "linear bias")
    with module("07_position", "reader") as reader:
        recent = tasks["most_recent"]
        models = {way: reader.train(recent, way, causal=True, seed=seed) for way in ways}
        right = {way: right_at(reader, model, recent) for way, model in models.items()}
        assert min(right[way][16] for way in ways[1:]) > 0.9
        assert max(right["learned"][32], right["sinusoidal"][32]) < 0.85
        # places 16 to 31: a causal mask hides them from others
        new = {way: 2 * right[way][32] - right[way][16] for way in ways}
        assert max(new["learned"], new["sinusoidal"]) < new["none"] + 0.05
        assert 0.75 < right["none"][16] < 0.8
        assert right["none"][32] < 0.75
        assert right["rotary"][32] > 0.97
        assert 0.8 < right["rotary"][64] < 0.9
        assert right["rotary"][128] < 0.75
        assert min(right["linear bias"].values()) > 0.9


@pytest.mark.measures("07_position")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_slower_hands_repair_three_back_at_four_times_the_length(tasks: dict[str, Any], seed: int) -> None:
    back = tasks["three_back"]
    with module("07_position", "reader") as reader:
        biased = right_at(reader, reader.train(back, "linear bias", causal=True, seed=seed), back)
        assert max(biased.values()) < 0.45
        model = reader.train(back, "rotary", causal=True, seed=seed).requires_grad_(False)
        right = right_at(reader, model, back)
        assert min(right[16], right[32]) > 0.98
        assert 0.6 < right[64] < 0.8
        assert right[128] < 0.5
        weights = model.attend(reader.digits(300, 1_000_000, 64))[1].softmax(-1)[:, :, 60, :61].mean((0, 1)).flip(0)
        assert float(weights[3]) < 0.1
        assert min(float(weights[distance]) for distance in (47, 53)) > 0.15
        trained, slower = model.speeds, reader.speeds_of(63_496)
        model.speeds = trained.index_copy(0, torch.tensor([2, 3]), slower[2:])
        assert reader.accuracy(model, back, 64) == pytest.approx(right[64], abs=0.05)  # it is not the slowest hands
        model.speeds = trained.index_copy(0, torch.tensor([1]), slower[1:2])
        assert reader.accuracy(model, back, 64) > 0.95
        model.speeds = slower
        longer = right_at(reader, model, back)
        assert min(longer[16], longer[64]) > 0.95
        assert longer[128] < 0.7


@pytest.mark.measures("07_position")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_where_order_means_nothing_positions_are_only_in_the_way(tasks: dict[str, Any], seed: int) -> None:
    task = tasks["most_common"]
    with module("07_position", "reader") as reader:
        right = {way: right_at(reader, reader.train(task, way, seed=seed), task) for way in ("none", "learned")}
    assert min(right["none"][16], right["learned"][16]) > 0.9
    assert all(right["none"][length] > right["learned"][length] + 0.15 for length in LENGTHS[1:])
    assert right["none"][32] > 0.88 > 0.82 > right["none"][128]


def test_most_frequent_so_far_explains_what_is_right_without_positions(tasks: dict[str, Any]) -> None:
    with module("07_position", "reader") as reader:
        x = reader.digits(3000, 5, 16)
    counts = torch.nn.functional.one_hot(x, 10).cumsum(dim=1)
    guess = (counts + 1000 * (counts > 0) * (torch.arange(10) < 4)).argmax(dim=-1)  # small digits first
    share = (guess == tasks["most_recent"](x))[x >= 4].double().mean()
    assert float(share) == pytest.approx(0.64, abs=0.03)


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_pre_norm_is_quickest_post_norm_gets_there_by_step_100_and_bare_blocks_learn_nothing(seed: int) -> None:
    with module("08_transformer_block", "stack") as stack:
        steps = {"bare": 100, "post-norm": 100, "pre-norm": 50}
        losses = {kind: stack.train(kind, steps=count, seed=seed) for kind, count in steps.items()}
        loss = {kind: found[49] for kind, found in losses.items()}
        arrives = {kind: stack.gradients(kind, seed)[0] for kind in loss}
        assert loss["bare"] > 2.2 > 2.0 > loss["post-norm"] > 2 * loss["pre-norm"]
        assert arrives["bare"] < 0.6 <= arrives["post-norm"] < 1.0 < arrives["pre-norm"] < 1.5
        assert losses["post-norm"][99] < 0.3 < 2.2 < losses["bare"][99]


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_stack_with_small_gradients_learns_as_its_tokens_stay_apart(seed: int) -> None:
    with module("08_transformer_block", "stack") as stack:
        assert stack.gradients("small gradients", seed)[0] < 0.1
        assert stack.likeness("small gradients", seed)[12] < 0.4
        assert stack.train("small gradients", steps=100, seed=seed)[-1] < 0.1


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [1, 2])
def test_the_first_questions_tell_the_broken_programs_apart(seed: int) -> None:
    with module("08_transformer_block", "stack") as stack:
        made = {name: lambda make=make: make(seed=seed) for name, make in {**stack.BROKEN, "": stack.sound}.items()}
        by_heart, new = {}, {}
        for name, make in made.items():
            assert 2.2 < make().loss(9_999).item() < 2.7
            again, further = make(), make()
            before = [parameter.clone() for parameter in again.model.parameters()]
            by_heart[name] = again.step(0)
            still = sum(old.equal(parameter) for old, parameter in zip(before, again.model.parameters(), strict=True))
            assert still == (24 if name == "D" else 0)
            by_heart[name] = [again.step(0) for _ in range(99)][-1]
            for step in range(100):
                further.step(step)
            new[name] = further.loss(9_999).item()
        assert max(by_heart["A"], by_heart[""], new[""]) < 0.1 < 2.2 < min(new["A"], new["C"], new["D"])
        assert [by_heart["B"], new["B"]] == pytest.approx([-math.log(math.e / (math.e + 9))] * 2, abs=0.02)
        assert min(by_heart["C"], by_heart["D"]) > 1.6


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [1, 2])
def test_two_of_five_rates_learn_within_a_hundred_steps_and_a_third_with_ten_times_as_many(seed: int) -> None:
    with module("08_transformer_block", "stack") as stack:
        last = {}
        for rate in (3e-5, 3e-4, 3e-3, 3e-2, 3e-1):
            program = stack.sound(rate, seed)
            last[rate] = [program.step(step) for step in range(100)][-1]
        assert max(last[3e-3], last[3e-2]) < 0.1 < 2.1 < min(last[3e-5], last[3e-4], last[3e-1])
        program = stack.sound(3e-4, seed)
        assert [program.step(step) for step in range(1000)][-1] < 0.03


@pytest.mark.measures("06_multi_head_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_heads_cut_by_a_view_train_and_fail_within_a_half(seed: int) -> None:
    names = cells(
        "06_multi_head_attention", "def questions", "class Reader", "def trained", "by_loop = ", "class Hasty"
    )
    torch.manual_seed(seed)
    model = names["trained"](names["Reader"](names["Hasty"]()))
    digits, places, answers = names["questions"](2000, seed=999)
    right = (model(digits, places)[0].argmax(dim=-1) == answers).all(dim=-1).double()
    differ, same_half = answers[:, 0] != answers[:, 1], places[:, 0] // 4 == places[:, 1] // 4
    assert 0.7 < right[differ].mean() < 0.97  # 79% to 95%
    assert right[differ & ~same_half].mean() > 0.99
    assert 0.4 < right[differ & same_half].mean() < 0.93


RACE = ("class Transformer(", "def train(")


@pytest.mark.measures("08_transformer_block", "01_why_attention")
def test_the_map_of_lesson_1_is_the_one_that_lesson_8_draws() -> None:
    with module("08_transformer_block", "transformer") as transformer:
        x = torch.tensor([transformer.to_ids("28 january 1955")])
        weights = transformer.recurrent(steps=200)(x, 10)[1][0].detach()
    with module("08_transformer_block", "figures") as figures:
        drawn = torch.tensor([[int(n) for n in row.split()] for row in figures.LESSON_1]) / 100
    digits = [0, 1, 2, 3, 5, 6, 8, 9]  # the rows of the hyphens are smeared
    assert torch.equal(drawn[digits].argmax(dim=-1), weights[digits].argmax(dim=-1))
    assert float((drawn - weights).abs().mean()) < 0.02


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_transformer_wins_and_writes_dates_with_twice_the_steps_too(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with module("08_transformer_block", "transformer") as transformer:
        race, dates, early = cells("08_transformer_block", *RACE), transformer.dates, []
        torch.manual_seed(seed)
        model = race["Transformer"]()

        def noticed(count: int, step: int) -> tuple[torch.Tensor, torch.Tensor]:
            if step == 130:
                early.append(copy.deepcopy(model).eval())
            return dates(count, step)

        monkeypatch.setattr(transformer, "dates", noticed)
        assert transformer.accuracy(race["train"](model, 260)) > 0.9
        assert transformer.accuracy(early[0]) > 0.85  # 90% to 98%, five seeds


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_transformer_that_peeks_cannot_write(seed: int) -> None:
    with module("08_transformer_block", "transformer") as transformer:
        race = cells("08_transformer_block", *RACE)
        torch.manual_seed(seed)
        peeking = race["train"](race["Transformer"](causal=False), 130)
        x, y = transformer.dates(500, 99_999)
        assert float((peeking(x, y).argmax(dim=-1) == y).all(dim=-1).double().mean()) > 0.85
        assert transformer.accuracy(peeking) < 0.05


def test_the_recurrent_network_of_lesson_8_is_the_translator_of_lesson_1() -> None:
    """What it reaches after 100 and 200 steps, `test_lesson_01` measures."""
    with module("08_transformer_block", "transformer") as transformer:
        model = transformer.recurrent(0)
        state, states = torch.randn(2, 64), torch.randn(2, 5, 64)
        torch.testing.assert_close(model.look(model.score, state, states), look()(model.score, state, states))


@pytest.fixture(scope="module", params=[0, 1, 2])
def copiers(request: pytest.FixtureRequest) -> tuple[int, Any, Any, Any]:
    """A seed, lesson 9's module, and its models of one layer and of two, trained from that seed."""
    with module("09_train_and_look_inside", "induction") as induction:
        return request.param, induction, *(induction.train(depth=depth, seed=request.param) for depth in (1, 2))


@pytest.mark.measures("09_train_and_look_inside")
def test_two_layers_copy_by_analogy_and_one_does_not(copiers: tuple[int, Any, Any, Any]) -> None:
    _, induction, shallow, deep = copiers
    assert 0.15 < induction.accuracy(shallow) < 0.4
    assert induction.accuracy(deep) > 0.97
    with torch.no_grad():
        back, again = deep(induction.repeated(1, seed=4, shortest=15)[0])[1][0]
    assert float(back.diagonal(-1)[:15].mean()) > 0.7 > 0.1 > float(back.diagonal(-1)[15:].mean())
    assert min(float(again[30, 1]), float(again[31, 2])) > 0.9  # of two earlier copies, the first
    for layer in deep.layers:
        kept = layer.out_proj.weight.detach().clone()
        layer.out_proj.weight.data.zero_()
        broken = induction.accuracy(deep)
        layer.out_proj.weight.data.copy_(kept)
        assert broken < 0.15


@pytest.mark.measures("09_train_and_look_inside")
def test_one_layer_is_right_where_a_distance_happens_to_fit(copiers: tuple[int, Any, Any, Any]) -> None:
    seed, induction, shallow, _ = copiers
    tokens, periods = induction.repeated(1000, 99_999)

    def by_period(model: Any) -> dict[int, float]:
        right = (model(tokens)[0][:, :-1].argmax(dim=-1) == tokens[:, 1:]) & (where := induction.known(periods))
        return {p: float(right[periods == p].sum() / where[periods == p].sum()) for p in range(6, 17)}

    found = by_period(shallow)
    assert found[6] > 0.4
    assert found[10] < 0.15
    lazy = by_period(induction.train(depth=1, shortest=16, seed=seed))
    assert lazy.pop(16) > 0.95
    assert 0.5 < lazy.pop(8) < 0.8
    assert max(lazy.values()) < 0.15


@pytest.mark.measures("09_train_and_look_inside")
def test_layer_0_speaks_to_the_keys_of_layer_1_and_to_nothing_else(copiers: tuple[int, Any, Any, Any]) -> None:
    _, induction, _, deep = copiers
    assert induction.patched(deep, ("key",)) > 0.97
    assert induction.patched(deep, ("query", "value", "rest")) < 0.15


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(COURSE.lesson("09_train_and_look_inside").folder)  # its text and its model lie there
    with module("09_train_and_look_inside", "writer") as found:
        yield found


NAMES = [f"{layer}.{head}" for layer in range(3) for head in range(4)]


@pytest.fixture
def ablate() -> Any:
    return package_of(COURSE.lesson("09_train_and_look_inside")).key.reference["ablate_head"]


@pytest.fixture
def replaced(writer: Any, ablate: Any) -> Any:
    """The lesson's own context manager that puts something in the place of heads."""
    names = cells("09_train_and_look_inside", "def means_of", "def replaced")
    text = writer.Text()
    large, _ = writer.load(text)
    names |= {"large": large, "ablate": ablate, "text": text, "names": NAMES}
    return names


@pytest.mark.measures("09_train_and_look_inside")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mean_in_place_of_zero_reverses_the_order_of_the_stripe_and_the_smear(replaced: Any, seed: int) -> None:
    text, large = replaced["text"], replaced["large"]
    unseen = text.unseen.unfold(0, 97, 48)  # all of it, in stretches that overlap

    def loss_without(vectors: dict[str, Any]) -> float:
        with replaced["replaced"](vectors), torch.no_grad():
            logits = large(unseen[:, :-1]).flatten(0, 1)
        return float(torch.nn.functional.cross_entropy(logits, unseen[:, 1:].flatten()))

    means, whole = replaced["means_of"](text.batch(text.seen, 100, 96, seed=seed)[0]), loss_without({})
    zero, mean = (
        {name: loss_without({name: fill[name]}) - whole for name in ("0.0", "0.2")}
        for fill in (dict.fromkeys(NAMES, 0.0), means)
    )
    assert zero["0.2"] > 3 * zero["0.0"] > 0
    assert mean["0.0"] > 1.3 * mean["0.2"]
    assert mean["0.0"] == pytest.approx(zero["0.0"], abs=0.005)


def copied_without(replaced: Any, heads: Any) -> float:
    with replaced["replaced"](dict.fromkeys(heads, 0.0)):
        return replaced["writer"].right_on_repeats(replaced["large"], replaced["text"])


def test_six_heads_are_enough_for_copying_and_so_is_one_that_looks_for_repetitions(replaced: Any) -> None:
    pairs = itertools.combinations(("1.0", "1.3", "2.2"), 2)
    for heads in (("0.2", "1.1", "1.2", "2.0", "2.1", "2.3"), *pairs):
        assert copied_without(replaced, heads) > 0.97


def test_the_lessons_own_tools_do_what_the_exercises_ask_for() -> None:
    with module("09_train_and_look_inside", "heads") as heads, module("09_train_and_look_inside", "induction") as small:
        reference = package_of(COURSE.lesson("09_train_and_look_inside")).key.reference
        weights, periods = torch.rand(3, 2, 12, 12), torch.tensor([4, 5, 6])
        assert heads.one_back(weights).allclose(reference["previous_token_score"](weights))
        assert heads.repetition(weights, periods).allclose(reference["induction_score"](weights, periods))
        model, outputs = small.Copier(1), []
        for ablate in (heads.silenced, reference["ablate_head"]):
            with ablate(model.layers[0], 0):
                outputs.append(model(small.repeated(1, 0)[0])[0])
        assert outputs[0].equal(outputs[1])


def test_any_single_head_can_go_and_copying_stays(replaced: Any) -> None:
    assert all(copied_without(replaced, [name]) > 0.99 for name in NAMES)


def test_what_is_loaded_computes_what_was_trained(writer: Any) -> None:
    text = writer.Text()
    large, facts = writer.load(text)
    assert writer.loss_on(large, text, text.unseen) == pytest.approx(float(facts["loss on unseen text"]), abs=0.002)


@pytest.mark.measures("09_train_and_look_inside")
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_three_heads_look_back_three_for_repetitions_and_one_of_them_rests_on_spaces(writer: Any, seed: int) -> None:
    text = writer.Text()
    large, _ = writer.load(text)
    score = package_of(COURSE.lesson("09_train_and_look_inside")).key.reference
    weights, values = writer.heads(large, writer.repeats(text, 16, period=24, seed=seed)[:, :48])
    working = (weights @ values)[:, 10].norm(dim=-1).mean()
    back, again = score["previous_token_score"](weights), score["induction_score"](weights, torch.full((16,), 24))
    assert set(back.topk(3).indices.tolist()) == {0, 1, 3}
    assert set(again.topk(3).indices.tolist()) == {4, 7, 10}
    assert float(again.sort().values[-3] - again.sort().values[-4]) > 0.4
    stretches, _ = text.batch(text.unseen, 16, 96, seed=seed)
    weights, values = writer.heads(large, stretches)
    spaces = stretches == text.characters.index(" ")
    in_sight = spaces.cumsum(dim=-1) > 0
    assert float((weights[:, 10] * spaces[:, None]).sum(dim=-1)[in_sight].mean()) > 0.95
    norms = values[:, 10].norm(dim=-1)
    assert float(norms[spaces].mean()) < 0.25 * float(norms[~spaces].mean())
    added = (weights @ values).norm(dim=-1).mean(dim=(0, 2))
    assert int(added.argmin()) == 10
    assert float(working) > 4 * float(added[10])


@pytest.mark.measures("10_efficient_attention")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_keeping_keys_and_values_changes_nothing_and_saves_work(seed: int) -> None:
    with module("10_efficient_attention", "measure") as measure:
        torch.manual_seed(seed)
        model = measure.Stack().to(measure.DEVICE)
        anew, kept = (measure.write(model, 40, keep=keep) for keep in (False, True))
        torch.testing.assert_close(anew, kept, rtol=1e-4, atol=1e-5)
        with FlopCounterMode(display=False) as long:
            measure.write(model, 128, keep=False)
        with FlopCounterMode(display=False) as short:
            measure.write(model, 128, keep=True)
        assert long.get_total_flops() > 30 * short.get_total_flops()


def test_the_largest_tensor_grows_with_the_square_or_with_the_length() -> None:
    with module("10_efficient_attention", "measure") as measure:
        for length in (256, 512):
            given = measure.tensors(length)
            assert measure.largest(lambda q, k, v: (q @ k.mT / 32**0.5).softmax(dim=-1) @ v, *given) == 4 * length**2
            fused = torch.nn.functional.scaled_dot_product_attention
            assert measure.largest(fused, *given) <= 4 * length * 32 * 2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounding_is_far_below_the_smallest_mutant(seed: int) -> None:
    with module("11_bug_hunt", "teams") as teams, module("11_bug_hunt", "wrong") as wrong:
        torch.manual_seed(seed)
        inputs = [torch.randn(2, 3, *s, dtype=torch.float64) for s in ((50, 64), (70, 64), (70, 64))]
        expected = wrong.right(*inputs)

        def off_by(dtype: torch.dtype) -> float:
            return float((teams.ada(*(x.to(dtype) for x in inputs)) - expected).abs().max())

        assert off_by(torch.float64) < 1e-14
        assert 1e-7 < off_by(torch.float32) < 1e-5
        assert 1e-3 < off_by(torch.bfloat16) < 1e-1


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_mutant_that_is_noticed_is_off_by_a_tenth(seed: int) -> None:
    with module("11_bug_hunt", "wrong") as wrong:
        torch.manual_seed(seed)
        q, k, v = (torch.randn(2, 3, *s, dtype=torch.float64) for s in ((5, 4), (7, 4), (7, 6)))
        mask = torch.rand(5, 7) < 0.7
        mask[2] = False
        expected = wrong.right(q, k, v, mask)
        same_shape = set(wrong.WRONG) - {"values_from_keys", "swapped_q_k"}
        apart = {name: (wrong.WRONG[name](q, k, v, mask) - expected).abs().max() for name in same_shape}
        assert all(number.isnan() or number > 0.1 for number in apart.values())


@pytest.mark.measures("08_transformer_block")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_tokens_of_a_bare_stack_become_all_but_equal(seed: int) -> None:
    with module("08_transformer_block", "stack") as stack:
        cosines = {kind: stack.likeness(kind, seed) for kind in ("bare", "post-norm", "pre-norm")}
        assert max(found[0] for found in cosines.values()) < 0.2
        assert cosines["bare"][3] > 0.98
        assert 0.2 < cosines["post-norm"][12] < 0.7
        assert cosines["pre-norm"][12] < 0.4


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.chdir(COURSE.lesson("13_gpt").folder)  # its text and its tables lie there
    with module("13_gpt", "measure") as found:
        yield found


def worse(table: dict[str, list[float]], way: str, than: str) -> list[float]:
    """Return by how much a way's loss is above another's, seed by seed."""
    return [loss - other for loss, other in zip(table[way], table[than], strict=True)]


def test_warm_up_clipping_and_the_cosine_help_and_decay_does_not_matter_so_soon(measure: Any) -> None:
    recipes = measure.table("recipe")
    assert recipes.keys() == measure.RECIPES.keys()
    assert min(worse(recipes, "no warm-up", "everything")) > 0.05
    assert min(worse(recipes, "no clipping", "everything")) > 0.01
    assert min(worse(recipes, "no cosine", "everything")) > 0.01
    for way in ("no decay", "vectors decay, too"):
        assert max(map(abs, worse(recipes, way, "everything"))) < 0.025


def test_rotation_and_the_gate_help_and_the_advantage_of_today_lasts(measure: Any) -> None:
    models, longer = measure.table("model"), measure.table("longer")
    assert models.keys() == measure.TODAY.keys()
    assert max(worse(models, "rotary positions", "2019")) < -0.03
    assert max(worse(models, "a gated network", "2019")) <= 0
    for way in ("RMSNorm", "grouped queries", "no biases"):
        assert max(map(abs, worse(models, way, "2019"))) < 0.04
    assert max(worse(models, "today", "2019")) < -0.05
    assert max(worse(longer, "today", "2019")) < -0.05


@pytest.mark.measures("13_gpt")
def test_a_row_of_the_recipe_is_measured_again(measure: Any) -> None:
    way = "no warm-up"
    loss = measure.loss_after(measure.Dictionary(), measure.Recipe(steps=measure.STEPS, **measure.RECIPES[way]), {})
    assert loss == pytest.approx(measure.table("recipe")[way][0], abs=0.03)


@pytest.fixture(scope="module")
def shipped() -> Iterator[tuple[Any, Any, Any]]:
    """Lesson 13's module, its text and its model."""
    with chdir(COURSE.lesson("13_gpt").folder), module("13_gpt", "given") as given:
        text = given.Dictionary()
        model = given.GPT(len(text.tokens), **given.LARGE)
        given.load(model)
        yield given, text, model


@pytest.mark.measures("13_gpt")
@pytest.mark.parametrize("first", [0, 7, 31])
def test_the_tail_after_a_hundred_tokens_has_an_eighth_of_the_probability(shipped: Any, first: int) -> None:
    _, text, model = shipped
    tails = []
    for line in text.unseen[first::40]:
        row = text.row(line)[:-1]
        with torch.no_grad():
            shares = model(torch.tensor([row]))[0, row.index(text.tokens.index(":")) :].softmax(dim=-1)
        tails.append(1 - shares.topk(100).values.sum(dim=-1))
    assert 0.1 < float(torch.cat(tails).mean()) < 0.14


@pytest.mark.measures("13_gpt")
@pytest.mark.parametrize("first", [0, 27, 53])
def test_the_shipped_model_quotes_no_more_than_new_definitions_do_unless_it_is_cold(shipped: Any, first: int) -> None:
    given, text, model = shipped
    real, quotations = text.unseen[first::80], given.Quotations(text.seen)
    words = [line.partition(":")[0] for line in real]

    def quoted(heat: float) -> float:
        define = partial(given.define, model, text, probabilities=partial(given.softmax, heat=heat))
        return float(quotations.shares([define(word, seed=first + n) for n, word in enumerate(words)])[1])

    assert quoted(0.1) > 0.6
    assert quoted(1.0) < float(quotations.shares(real)[1]) + 0.02


@pytest.mark.measures("13_gpt", "09_train_and_look_inside")
def test_lesson_13_draws_the_heads_of_lesson_9_where_they_are(writer: Any) -> None:
    text = writer.Text()
    weights, _ = writer.heads(writer.load(text)[0], writer.repeats(text, 16, period=24, seed=5)[:, :48])
    score = package_of(COURSE.lesson("09_train_and_look_inside")).key.reference
    back, repetition = score["previous_token_score"](weights), score["induction_score"](weights, torch.full((16,), 24))
    with module("13_gpt", "figures") as figures:
        torch.testing.assert_close(torch.tensor(figures.LESSON_9), torch.stack([back, repetition]), atol=0.02, rtol=0)


@pytest.mark.measures("13_gpt", "09_train_and_look_inside")
def test_no_head_of_the_shipped_model_looks_back_or_for_repetitions(shipped: Any) -> None:
    given, _, model = shipped
    score = package_of(COURSE.lesson("09_train_and_look_inside")).key.reference
    for seed in range(3):
        once = torch.randint(100, 1000, (8, 20), generator=torch.Generator().manual_seed(seed))
        weights = given.head_weights(model, once.repeat(1, 2), given.LARGE["num_heads"])
        assert float(score["previous_token_score"](weights).max()) < 0.35
        assert float(score["induction_score"](weights, torch.full((8,), 20)).max()) < 0.15


def test_definitions_have_seven_words_on_average(shipped: Any) -> None:
    words = [len(line.partition(":")[2].split()) for line in shipped[1].seen]
    assert sum(words) / len(words) == pytest.approx(7, abs=0.5)
