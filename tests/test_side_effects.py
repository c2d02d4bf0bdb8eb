"""What a call leaves behind is part of its outcome: inputs that it wrote to, and settings of the whole program."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from autograder.grading.sandbox.codec import pack_outcome, unpack_outcome
from autograder.judging.check import Check
from autograder.judging.compare import contract, equal
from autograder.judging.fingerprint import fingerprint, same
from autograder.judging.inputs import Inputs
from autograder.judging.settings import CHANGED_SETTINGS, settings_now
from autograder.judging.shortcuts import record_is_odd, source_of
from autograder.judging.values import Outcome, Raised, Returned

CHECK = Check("double", "doubled", 1, "Doubled.", lambda double, draw: double(draw.normal(3)))
ON_INTEGERS = Check("double", "integers", 1, "Doubled.", lambda double, draw: double(draw.give(torch.arange(3))))


def right(x: Tensor) -> Tensor:
    return 2 * x


def after(write: Callable[[Tensor], Any]) -> Outcome:
    """Run a function that is right and writes to its input on the way."""

    def double(x: Tensor) -> Tensor:
        result = 2 * x
        write(x)
        return result

    return CHECK.values(double, 1)


WRITES = {
    "in place": lambda x: x.mul_(2),
    "through data": lambda x: x.data.mul_(2),
    "through NumPy": lambda x: np.copyto(x.numpy(), 0),
    "through the storage": lambda x: x.untyped_storage().fill_(0),
    "resized": lambda x: x.resize_(5),
    "exchanged": lambda x: x.set_(torch.zeros(3, dtype=torch.float64)),
    "NaN": lambda x: x.data.fill_(torch.nan),
}


@pytest.mark.parametrize("way", WRITES)
def test_an_input_that_was_written_to_is_noticed_by_whatever_way(way: str) -> None:
    outcome = after(WRITES[way])
    assert isinstance(outcome, Returned)
    assert outcome.changed
    assert not equal(outcome, CHECK.values(right, 1), None)


def test_an_input_that_was_read_is_as_it_was() -> None:
    assert not after(lambda x: x.numpy().sum()).changed
    assert not ON_INTEGERS.values(right, 1).changed


def test_nan_in_an_input_is_no_change() -> None:
    draw = Inputs(1, "name")
    draw.give(torch.tensor([torch.nan, 1.0]))
    assert not draw.changed


SETTINGS = {
    "gradients": lambda: torch.set_grad_enabled(False),
    "default dtype": lambda: torch.set_default_dtype(torch.float64),
    "default device": lambda: torch.set_default_device("meta"),
    "seed": lambda: torch.default_generator.manual_seed(3),
    "threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "deterministic algorithms": lambda: torch.use_deterministic_algorithms(True),
    "print options": lambda: torch.set_printoptions(precision=1),
    "NumPy's print options": lambda: np.set_printoptions(precision=1),
    "NumPy's error handling": lambda: np.seterr(all="ignore"),
}


@pytest.fixture
def restored() -> Iterator[None]:
    threads, options, errors = torch.get_num_threads(), np.get_printoptions(), np.geterr()
    with contextlib.ExitStack() as stack:
        stack.callback(torch.set_grad_enabled, True)
        stack.callback(torch.set_default_dtype, torch.float32)
        stack.callback(torch.set_default_device, None)
        stack.callback(torch.set_num_threads, threads)
        stack.callback(torch.use_deterministic_algorithms, False)
        stack.callback(torch.set_printoptions, profile="default")
        stack.callback(np.set_printoptions, **options)
        stack.callback(np.seterr, **errors)
        yield


def test_every_setting_has_a_message_and_a_case() -> None:
    assert SETTINGS.keys() == CHANGED_SETTINGS.keys() == settings_now().keys()


@pytest.mark.usefixtures("restored")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_right_answer_that_leaves_a_setting_changed_is_told_so(name: str) -> None:
    known, outcome = CHECK.values(right, 1), after(lambda _: SETTINGS[name]())
    assert isinstance(outcome, Returned)
    assert outcome.settings == (name,)
    assert not equal(outcome, known, None)
    assert not same(fingerprint(outcome), fingerprint(known))
    assert contract(fingerprint(outcome), fingerprint(known)) == CHANGED_SETTINGS[name]


@pytest.mark.usefixtures("restored")
def test_what_the_solution_changes_may_be_changed_and_need_not_be() -> None:
    known, outcome = after(lambda _: torch.set_grad_enabled(False)), CHECK.values(right, 1)
    assert equal(outcome, known, None)
    assert same(fingerprint(outcome), fingerprint(known))


def test_a_check_can_allow_a_setting_to_be_changed() -> None:
    check = Check("double", "seeds", 1, "Seeds.", lambda double, draw: double(draw.normal(3)), may_change=("seed",))

    def double(x: Tensor) -> Tensor:
        torch.default_generator.manual_seed(7)
        return 2 * x

    assert check.values(double, 1).settings == ()
    assert CHECK.values(double, 1).settings == CHECK.values(double, 7).settings == ("seed",)


def draws(x: Tensor) -> None:
    nn.Linear(2, 2)
    torch.randn(3)


def restores(x: Tensor) -> None:
    with torch.no_grad(), torch.random.fork_rng(devices=[]), np.errstate(all="ignore"):
        torch.default_generator.manual_seed(0)


@pytest.mark.parametrize("use", [draws, restores])
def test_to_draw_random_numbers_or_to_restore_a_setting_is_no_change(use: Callable[[Tensor], None]) -> None:
    assert after(use).settings == ()


@pytest.mark.usefixtures("restored")
def test_settings_travel_by_name_and_no_other_names_do() -> None:
    outcome = Returned(1, settings=("seed", "nonsense"))
    assert unpack_outcome(pack_outcome(outcome)).settings == ("seed",)


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_that_cannot_say_what_it_is_is_an_outcome_too() -> None:
    def stops(x: Tensor) -> Tensor:
        raise MuteError

    assert CHECK.values(stops, 1) == Raised("MuteError", "")


# What may be called like a function


class Doubling:
    factor = 2

    def __call__(self, x: Tensor) -> Tensor:
        return self.factor * x


class Doubled:
    def __new__(cls, x: Tensor) -> Any:
        return 2 * x


class Unseen:
    def __new__(cls, *_: Any) -> Any:
        return super().__new__(cls)


FORMS = {
    "an object": Doubling(),
    "a partial": functools.partial(torch.Tensor.mul, other=2),
    "a bound method": Doubling().__call__,
    "a class": Doubled,
}


@pytest.mark.parametrize("form", FORMS)
def test_whatever_is_called_is_recorded_and_not_the_check_around_it(form: str) -> None:
    outcome = CHECK.values(FORMS[form], 1, record=True)
    assert isinstance(outcome, Returned)
    assert outcome.tree.equal(CHECK.values(right, 1).tree)
    assert outcome.ran
    assert not any("rand" in name for name in outcome.ran)


def test_what_a_callable_object_has_can_be_asked_for() -> None:
    check = Check("double", "asks", 1, "Asks.", lambda double, draw: double.factor)
    outcome = check.values(Doubling(), 1)
    assert isinstance(outcome, Returned)
    assert outcome.tree == 2


def test_a_class_whose_objects_run_unseen_is_said_to_be_odd() -> None:
    check = Check("double", "makes", 1, "Makes.", lambda double, draw: type(double()).__name__)
    assert record_is_odd([], "double", [check.values(Unseen, 1, record=True)])


def test_the_source_of_a_callable_object_is_that_of_its_class() -> None:
    assert "factor = 2" in source_of(Doubling())[0]
    assert "def right" in source_of(functools.partial(right))[0]


def test_a_check_asks_for_gradients_whatever_a_cell_has_set() -> None:
    check = Check("double", "recorded", 1, "Recorded.", lambda double, _draw: double(torch.is_grad_enabled()))
    with torch.no_grad():
        assert check.values(lambda enabled: enabled, 0).tree is True
