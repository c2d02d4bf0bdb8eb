"""What counts as a shortcut, and what does not."""

import pytest

from autograder.judging.shortcuts import barred_by, found_in, ran_in, shortcut
from autograder.judging.values import Returned

BANS = [shortcut("attend", "ready_made", because="Write it.")]
FOUND = ("ready_made", "Write it.")
PACKAGE = [shortcut("attend", "torch", because="Without it.")]
FOUND_PACKAGE = ("torch", "Without it.")
LONG = [shortcut("attend", "scaled_dot_product_attention", because="Write it.")]


@pytest.mark.parametrize(
    "code",
    [
        "def attend(q): return F.ready_made(q)",
        "def attend(q):\n    from torch.nn.functional import ready_made as f\n    return f(q)",
        "def attend(q): return getattr(F, 'ready_made')(q)",
        "def attend(q):\n    for name in ('ready_made',): q = getattr(F, name)(q)\n    return q",
        "from torch.nn.functional import ready_made as attend",
        "attend = F.ready_made",
        "class attend:\n    def __call__(self, q): return F.ready_made(q)",
    ],
)
def test_a_shortcut_is_found(code: str) -> None:
    assert found_in(BANS, "attend", [code]) == FOUND


def test_a_shortcut_in_another_cell_counts_where_the_exercise_leads_to_it() -> None:
    cells = ["def attend(q): return step(q)", "def step(q): return other(q)", "other = F.ready_made"]
    assert found_in(BANS, "attend", cells) == FOUND


@pytest.mark.parametrize(
    "cells",
    [
        ["def attend(q): return q", "F.ready_made(q) == attend(q)"],
        ["def attend(q): return ready_made(q)", "def ready_made(q): return q"],
        ["def attend(q): return q  # not F.ready_made"],
        ["def attend(q", "F.ready_made"],
        ["def attend(q):\n    weights = q\n    return weights", "weights = F.ready_made(1)"],
        ["%time\ndef attend(q): return q"],
    ],
)
def test_what_is_no_shortcut_is_not_found(cells: list[str]) -> None:
    assert found_in(BANS, "attend", cells) is None


@pytest.mark.parametrize(
    "code",
    [
        "def attend(q): return torch.ops.aten._scaled_dot_product_attention_math(q)",
        "from torch.nn.functional import *\ndef attend(q): return scaled_dot_product_attention(q)",
        "where = %pwd\ndef attend(q): return F.scaled_dot_product_attention(q)",
        "def attend(q):\n    x = 0" + " + 0" * 600 + "\n    return F.scaled_dot_product_attention(q)",
    ],
    ids=range(4),
)
def test_what_an_attacker_found_is_found(code: str) -> None:
    assert found_in(LONG, "attend", [code]) == ("scaled_dot_product_attention", "Write it.")


@pytest.mark.parametrize(
    "cells",
    [
        ["def attend(q): return torch.softmax(q, -1)"],
        ["def attend(q):\n    import torch.nn as layers\n    return layers.Softmax(-1)(q)"],
        ["from torch.nn import functional", "def attend(q): return functional.softmax(q)"],
        ["import torch as t", "def attend(q): return t.softmax(q)"],
    ],
)
def test_a_package_may_be_forbidden_with_all_that_comes_from_it(cells: list[str]) -> None:
    assert found_in(PACKAGE, "attend", cells) == ("torch", "Without it.")


def test_a_cell_that_imports_a_forbidden_package_for_another_function_is_no_shortcut() -> None:
    cells = ["import torch\nimport numpy as np", "def attend(q): return np.exp(q)\nprint(torch.ones(2))"]
    assert found_in(PACKAGE, "attend", cells) is None


@pytest.mark.parametrize(("ran", "found"), [((), None), (("whatever",), ("torch", "Without it."))])
def test_where_all_of_pytorch_is_forbidden_whatever_ran_is_found(ran: tuple[str, ...], found) -> None:
    assert ran_in(PACKAGE, "attend", [Returned(1, ran=ran)]) == found


def test_names_of_ones_own_are_no_shortcut() -> None:
    bans = [shortcut("softmax_jacobian", "jacobian", "softmax", because="No.")]
    code = "def softmax_jacobian(w):\n    jacobian = w.diag()\n    stable_softmax = jacobian\n    return jacobian"
    assert found_in(bans, "softmax_jacobian", [code]) is None
    mine = "def scaled_dot_product_attention(q): return q"
    assert found_in(LONG, "attend", ["def attend(q): return scaled_dot_product_attention(q)", mine]) is None


@pytest.mark.parametrize("line", ["print('softmax', q.shape)", "seen.setdefault('softmax', [])", "log.info('softmax')"])
def test_a_word_that_nothing_finds_anything_by_is_no_shortcut(line: str) -> None:
    bans = [shortcut("attend", "softmax", because="No.")]
    assert found_in(bans, "attend", [f"def attend(q):\n    {line}\n    return q"]) is None
    assert found_in(bans, "attend", ["def attend(q): return getattr(q, 'softmax')()"]) is not None


METHOD = """
class attend:
    def scaled_dot_product_attention(self, q): return q.exp()
    def __call__(self, q): return self.scaled_dot_product_attention(q)
"""
GLOBAL = "DEBUG = False\ndef attend(q):\n    if DEBUG: print(q)\n    return q"


@pytest.mark.parametrize(
    "cells",
    [
        [METHOD],
        [
            "class Ops:\n    def scaled_dot_product_attention(q): return q\n",
            "attend = Ops.scaled_dot_product_attention",
        ],
        ["def attend(q):\n    print('scaled_dot_product_attention', q.shape)\n    return q"],
        ["def mine(q): return q", "attend = mine", "print(attend(x) - F.scaled_dot_product_attention(x))"],
        [GLOBAL, "if DEBUG: print(F.scaled_dot_product_attention(x))"],
    ],
)
def test_what_students_do_beside_their_answer_is_no_shortcut(cells: list[str]) -> None:
    assert found_in(LONG, "attend", cells) is None


def test_what_the_source_alone_says_costs_no_points() -> None:
    source = ["def attend(q): return F.scaled_dot_product_attention(q) if q is None else q"]
    assert found_in(LONG, "attend", source)
    assert barred_by(LONG, "attend", source, [Returned(1, ran=("exp",))]) is None
    assert barred_by(LONG, "attend", source, [Returned(1, ran=("_scaled_dot_product_attention_math",))])
    assert barred_by(PACKAGE, "attend", ["def attend(q): return torch.exp(q)"], [Returned(1)]) == FOUND_PACKAGE


def test_a_long_chain_of_names_takes_no_time() -> None:
    chain = "\n".join(["a0 = 0", *(f"a{i + 1} = a{i}" for i in range(3000))])
    assert found_in(LONG, "attend", ["def attend(q): return a3000", chain]) is None


def test_another_exercise_may_use_it() -> None:
    assert found_in(BANS, "other", ["def other(q): return F.ready_made(q)"]) is None


def test_a_new_cell_that_binds_the_exercises_name_counts() -> None:
    stub = "def attend(q):\n    raise NotImplementedError()"
    for cell in (
        "def attend(q): return F.ready_made(q)",
        "attend = F.ready_made",
        "from torch.nn.functional import ready_made as attend",
        "def mine(q): return F.ready_made(q)\nattend = mine",
    ):
        assert found_in(BANS, "attend", [stub, "x = 1", cell]) == FOUND
    assert found_in(BANS, "attend", [stub, "def other(q): return F.ready_made(q)"]) is None


@pytest.mark.parametrize(
    "other",
    [
        "tools['f'] = lambda q: scaled_dot_product_attention(q)",
        "tools.update(f=lambda q: scaled_dot_product_attention(q))",
        "tools.f = lambda q: scaled_dot_product_attention(q)",
        "def f(q): return scaled_dot_product_attention(q)\ntools.append(f)",
        "def keep(f):\n    tools.append(f)\n@keep\ndef f(q): return scaled_dot_product_attention(q)",
        "def f(q): return scaled_dot_product_attention(q)\nfor each in [tools]: each['f'] = f",
        "class F:\n    def __str__(self):\n        for t in tools: t['x'] = scaled_dot_product_attention(t)",
    ],
)
def test_what_another_cell_puts_into_an_object_is_the_answers_code(other: str) -> None:
    assert found_in(LONG, "attend", ["tools = {}\ndef attend(q): return tools['f'](q)", other])


@pytest.mark.parametrize(
    "other",
    [
        "F.scaled_dot_product_attention(x).sub(attend(x)).abs().max()",
        "attend(x).sub(F.scaled_dot_product_attention(x)).abs().max()",
        "print(F.scaled_dot_product_attention(x))",
        "results['theirs'] = F.scaled_dot_product_attention(x)",
        "def compare(x):\n    r = {}\n    r['theirs'] = F.scaled_dot_product_attention(x)\n    return attend(x)",
        "torch.manual_seed(0)\ntorch.allclose(F.scaled_dot_product_attention(x), attend(x))",
    ],
)
def test_a_comparison_in_another_cell_stays_welcome(other: str) -> None:
    answer = "import torch\ndef attend(q):\n    print(torch.ones(1))\n    return torch.exp(q)"
    assert found_in(LONG, "attend", [answer, other]) is None
