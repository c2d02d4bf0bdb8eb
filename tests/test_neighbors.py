"""Each operator on a student's code, by one example; edits leave the tree as it was."""

import ast

import pytest

from autograder.judging.neighbors import Edit, edits_of
from autograder.judging.sentences import CHANGES
from autograder.judging.site import Size
from autograder.judging.trial import definitions_in


def neighbors(body: str, head: str = "def f(x, y=None):") -> dict[str, Edit]:
    """Return a function's neighbors: what the edited function's body is, with the edit."""
    cell = "\n    ".join([head, *body.split("\n")])
    tree = definitions_in(cell)
    found: dict[str, Edit] = {}
    for edit in edits_of(tree, cell):
        with edit.applied():
            lines = ast.unparse(tree).split("\n")[head.count("\n") + 1 :]
        found.setdefault("\n".join(line.removeprefix("    ") for line in lines), edit)
    return found


@pytest.mark.parametrize(
    ("before", "after", "piece", "change"),
    [
        ("return arange(x)", "return arange(x + 1)", "arange(x)", "with `x` larger by one"),
        ("return y[:, :x]", "return y[:, :x + 1]", "y[:, :x]", "with `x` larger by one"),
        ("return y[x]", "return y[x - 1]", "y[x]", "with `x` smaller by one"),
        ("x = y.f(x)\nreturn x", "x = x + y.f(x)\nreturn x", "y.f(x)", CHANGES["added"]),
        ("return y.f(x)", "return x + y.f(x)", "y.f(x)", CHANGES["added to"].format(name="x")),
        ("return x.float() / y", "return (x.float() / y).to(x.dtype)", "x.float() / y", "with the dtype of `x`"),
        (
            "return x.masked_fill(y, -1e4)",
            "return x.masked_fill(y, -float('inf'))",
            "x.masked_fill(y, -1e4)",
            CHANGES["infinite"].format(name="-1e4"),
        ),
        ("x[y] = -1e4", "x[y] = -float('inf')", "x[y] = -1e4", CHANGES["infinite"].format(name="-1e4")),
        (
            "return x / y - x.max()",
            "return x / y - (x / y).max()",
            "x.max()",
            CHANGES["as beside"].format(inner="x / y", name="x"),
        ),
        ("return x.std(1)", "return x.std(1, correction=0)", "x.std(1)", CHANGES["count"]),
        ("return x.sort(1)", "return x.sort(1, descending=True)", "x.sort(1)", CHANGES["turned around"]),
        ("return x < y", "return x > y", "x < y", CHANGES["turned around"]),
        ("return x.squeeze()", "return x.squeeze(dim=-1)", "x.squeeze()", "along one axis"),
        (
            "return x.repeat_interleave(2)",
            "return x.repeat_interleave(2, dim=1)",
            "x.repeat_interleave(2)",
            "along one axis",
        ),
        (
            "return [z for z in x if y.get(z)]",
            "return [z for z in x if y.get(z) is not None]",
            "y.get(z)",
            "if it asks whether that is None instead of whether it is true",
        ),
        ("y = f(x)\nx = 2\nreturn y", "x = 2\ny = f(x)\nreturn y", "y = f(x)", "if it comes after the next line"),
        (
            "x = x * 2\nreturn x",
            "if True:\n    x = x * 2\n    y = y * 2\nreturn x",
            "x = x * 2",
            "with the same for `y`",
        ),
        (
            "return x[x:x + 1 * y]",
            "return x[x:(x + 1) * y]",
            "x + 1 * y",
            "with its operations grouped in another way",
        ),
        ("return x / y * 2", "return x / (y * 2)", "x / y * 2", "with its operations grouped in another way"),
        ("return x @ x", "return (x @ x).mT", "x @ x", "if it is transposed"),
        ("return 2 * x", "return 2 * x * y", "2 * x", "with `y` as one more factor"),
        ("return torch.eye(2) @ x", "return torch.eye(2, dtype=x.dtype) @ x", "torch.eye(2)", "with the dtype of `x`"),
        ("return x.float() @ y", "return x @ y", ".float()", ""),
        ("return F.dropout(x, 0.1)", "return x", "F.dropout(…)", ""),
        ("return softmax(x)", "return x", "softmax(…)", ""),
        ("return x.T", "return x", ".T", ""),
        ("return x / 2", "return x", "/ 2", ""),
        ("return 2 * x", "return x", "2 *", ""),
        ("return f(x, scale=2)", "return f(x)", "scale=2", ""),
        ("return f(x, 2)", "return f(x)", ", 2", ""),
        ("return x[:, None]", "return x", "[:, None]", ""),
        ("x = x * 2\nreturn x", "pass\nreturn x", "x = x * 2", ""),
        ("with no_grad():\n    x = y\nreturn x", "x = y\nreturn x", "with no_grad():", ""),
        ("return ~x", "return x", "~x", "without the sign in front"),
        ("return x.softmax(dim=0)", "return x.softmax(dim=-1)", "x.softmax(dim=0)", "along another axis"),
        ("return x.shape[1]", "return x.shape[-1]", "x.shape[1]", "along another axis"),
        ("return x + 0.001", "return x + 1.0", "x + 0.001", "with a larger number in place of `0.001`"),
        ("return f(x, eps=2.0)", "return f(x, eps=1.0)", "f(x, eps=2.0)", "with a smaller number for `eps`"),
        (
            "return x.flatten(start_dim=0, end_dim=1)",
            "return x.flatten(start_dim=1, end_dim=2)",
            "x.flatten(start_dim=0, end_dim=1)",
            "along two other axes",
        ),
        ("return f(x, causal=False)", "return f(x, causal=True)", "f(x, causal=False)", "with the opposite setting"),
        ("return x.transpose(1, 2)", "return x.transpose(-2, -1)", "x.transpose(1, 2)", "along two other axes"),
        ("return softmax(x)", "return softmax(x, dim=-1)", "softmax(x)", "along one axis"),
        ("return x.sum(1)", "return x.sum(1, keepdim=True)", "x.sum(1)", "with that axis kept, of size 1"),
        ("return x.diagonal()", "return x.diagonal(dim1=-2, dim2=-1)", "x.diagonal()", "along two other axes"),
        (
            "return ones(2) + ones(3, device=y)",
            "return ones(2, device=y) + ones(3, device=y)",
            "ones(2)",
            "with `device`, as in the other `ones`",
        ),
        ("return x[-1]", "return x[0]", "x[-1]", "with another index"),
        (
            "return x.cumsum(min(1, y - 1))",
            "return x.cumsum(min(2, y - 1))",
            "min(1, y - 1)",
            "with a larger number in place of `1`",
        ),
        ("return x.chunk(3, 1)", "return x.chunk(3, 2)", "x.chunk(3, 1)", "along another axis"),
        ("return x.chunk(3, 1)", "return x.chunk(2, 1)", "x.chunk(3, 1)", "with a smaller number in place of `3`"),
        ("return x.permute((0, 2))", "return x.permute((0, 1))", "x.permute((0, 2))", "along another axis"),
        (
            "return y or x",
            "return y if y is not None else x",
            "y or x",
            "if it asks whether that is None instead of whether it is true",
        ),
        (
            "return ValueError('no')",
            "raise ValueError('no')",
            "return ValueError('no')",
            "if it is raised instead of returned",
        ),
        ("print(x)", "return x", "print(x)", "if it is returned instead of printed"),
        ("x += 1\nreturn x", "x = x + 1\nreturn x", "x += 1", "as a new tensor instead of in place"),
        ("x.relu_()\nreturn x", "x.relu()\nreturn x", "x.relu_()", "as a new tensor instead of in place"),
        ("return x * y", "return x / y", "x * y", "with another operation"),
        ("return x ^ 2", "return x ** 2", "x ^ 2", "with another operation"),
        ("return 0 <= x <= 2", "return 0 <= x < 2", "0 <= x <= 2", "if it is no longer true for equal values"),
        ("return f(x)", "return f(x, y)", "f(x)", "with `y` passed on"),
        ("return f(x)", "return f(x, y=y)", "f(x)", "with `y` passed on"),
        ("return x < y", "return x <= y", "x < y", "if it is true for equal values too"),
        ("return x >= y", "return x > y", "x >= y", "if it is no longer true for equal values"),
        (
            "return x.view(1, 2)",
            "return x.transpose(1, 2).reshape(1, 2)",
            "x.view(1, 2)",
            "after a transpose, since it keeps the order in which numbers lie",
        ),
        ("return x - y", "return y - x", "x - y", "with its two sides exchanged"),
        ("return f(x, y)", "return f(y, x)", "f(x, y)", "with two of its arguments exchanged"),
        ("return [x, y]", "return [y, x]", "[x, y]", "with two of its elements exchanged"),
        (
            "return (x / y).softmax(-1)",
            "return x.softmax(-1) / y",
            "(x / y).softmax(-1)",
            "with `/` after `softmax`",
        ),
        (
            "x = x + y.g()\nreturn x + self.h(y)",
            "x = x + self.h(y.g())\nreturn x + self.h(y)",
            "y.g()",
            "with `self.h` around it as well",
        ),
        ("return x.masked_fill(y, 0)", "return x.masked_fill(~y, 0)", "y", "if it is inverted"),
        ("return x.max(-1)", "return x.amax(-1)", "x.max(-1)", "with another function"),
        ("return x.repeat(2)", "return x.repeat_interleave(2)", "x.repeat(2)", "with another function"),
        (
            "return x.view(2, 3)",
            "return x.transpose(-2, -1)",
            "x.view(2, 3)",
            "if axes are exchanged instead (`view` keeps the order in which numbers lie)",
        ),
        (
            "return y + f(x, None)",
            "return y + f(x, y)",
            "f(x, None)",
            "with an argument of the function in place of `None`",
        ),
        ("return f(x, x=2)", "return f(x, x=x)", "f(x, x=2)", "with an argument of the function in place of `2`"),
        ("return y * f(x)", "return y * f(x, y=y)", "f(x)", "with `y` passed on"),
        (
            "x += y\nreturn x",
            "x = y\nreturn x",
            "x += y",
            "if that replaces what is there instead of being added to it",
        ),
        ("return x.T", "return x.mT", "x.T", CHANGES["other transpose"]),
        ("return x @ y", "return x @ y.mT", "y", "if it is transposed"),
        ("return x * y", "return x * y.unsqueeze(-1)", "x * y", "with a new axis for `y`"),
        ("return x / y", "return x / y ** 0.5", "x / y", "with the root of `y`"),
        ("return x * y", "return y * y", "x * y", "with an argument of the function in place of `x`"),
    ],
)
def test_an_operator_makes_this_neighbor(before: str, after: str, piece: str, change: str) -> None:
    edit = neighbors(before)[after]
    assert (edit.piece, edit.change, edit.lines) == (piece, change, (2,))


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("if y:\n    x = 1\nreturn x", "if y is not None:\n    x = 1\nreturn x", "if it asks whether that is None"),
        ("if x and y:\n    x = 1", "if x and y is not None:\n    x = 1", "if it asks whether that is None"),
        (
            "for z in x:\n    y += z\n    return y",
            "if True:\n    for z in x:\n        y += z\n    return y",
            "if it comes after the block",
        ),
        (
            "for z in x:\n    y = 0\n    y += z\nreturn y",
            "if True:\n    y = 0\n    for z in x:\n        y += z\nreturn y",
            "if it comes before the block",
        ),
        ("x[0] = 1\nreturn x", "if True:\n    x = x.clone()\n    x[0] = 1\nreturn x", "on a copy"),
    ],
)
def test_an_operator_changes_statements(before: str, after: str, change: str) -> None:
    assert neighbors(before)[after].change.startswith(change)


def test_the_same_edit_is_made_wherever_it_occurs() -> None:
    edit = neighbors("a = x.float()\nreturn a @ y.float()")["a = x\nreturn a @ y"]
    assert (edit.piece, edit.lines) == (".float()", (2, 3))


def test_what_is_written_to_at_two_places_is_a_new_tensor_at_both() -> None:
    edit = neighbors("x += y\nx += 1\nreturn x")["x = x + y\nx = x + 1\nreturn x"]
    assert (edit.piece, edit.lines) == ("x += y` and `x += 1", (2, 3))


def test_axes_that_are_exchanged_and_put_back_are_others_both_times() -> None:
    found = neighbors("x = x.transpose(1, 2)\nreturn f(y, x).transpose(1, 2)")
    edit = found["x = x.transpose(1, 3)\nreturn f(y, x).transpose(1, 3)"]
    assert (edit.piece, edit.lines) == ("x.transpose(1, 2)` and `f(y, x).transpose(1, 2)", (2, 3))
    assert "x = x.transpose(0, 1)\nreturn f(y, x).transpose(0, 1)" in found


def test_a_default_is_no_place_for_an_argument() -> None:
    found = neighbors("return dim * x.sum(dim=-1)", "def f(x, dim=-1):")
    assert "return dim * x.sum(dim=dim)" in found
    assert {edit.lines for edit in found.values() if "argument of the function" in edit.change} == {(2,)}


def test_an_edit_is_taken_back() -> None:
    cell = "def f(x, y):\n    for i in x:\n        y[i] += x.sum(dim=0) * 2\n    return y if y.any() else -x"
    tree = definitions_in(cell)
    before = ast.dump(tree)
    for edit in edits_of(tree, cell):
        with edit.applied():
            ast.unparse(tree)
        assert ast.dump(tree) == before


def test_deletions_come_first_and_names_last() -> None:
    sizes = [edit.size for edit in neighbors("return (x.abs() - y) / 2").values()]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (Size.DELETION, Size.NAME)


def test_the_line_that_raised_comes_first() -> None:
    cell = "def f(x):\n    x = x.abs()\n    return x.exp()"
    assert edits_of(definitions_in(cell), cell, near=3)[0].lines == (3,)


def test_the_order_is_always_the_same() -> None:
    assert list(neighbors("return f(x, y) @ x.T")) == list(neighbors("return f(x, y) @ x.T"))


def test_a_long_piece_is_shortened() -> None:
    edit = neighbors(f"return f({', '.join('x' * 30)})[0]")
    assert max(len(e.piece) for e in edit.values()) <= 62


def test_dropout_gets_the_mode_of_its_module() -> None:
    found = neighbors("return F.dropout(x, 0.1)", "class M:\n  def forward(self, x):")
    assert any(edit.change == "with the module's mode passed on" for edit in found.values())


def test_a_loop_is_not_left_by_a_name() -> None:
    edits = neighbors("for z in x:\n    y = y + z\nreturn y").values()
    assert not any(edit.piece == "y + z" and "name for `z`" in edit.change for edit in edits)


def test_of_two_equal_sides_none_is_left_out() -> None:
    assert all(edit.piece != "* x" for edit in neighbors("return x * x").values())


def test_what_is_said_in_an_error_is_not_edited_into_no_code() -> None:
    cell = "def f(x, n):\n    if not x:\n        raise ValueError(f'{x} is not {len(x):>3}')\n    return x * 2"
    tree = definitions_in(cell)
    for edit in edits_of(tree, cell):
        with edit.applied():
            ast.unparse(tree)


def test_the_same_function_is_another_one_wherever_it_is_called() -> None:
    found = neighbors("return torch.stack(x), torch.stack(y)")
    assert found["return (torch.cat(x), torch.cat(y))"].change == "with another function"


def test_parameters_may_be_called_as_ours_are() -> None:
    assert neighbors("return g(x)", "def f(x, node, kind, new, site):")


def test_what_stands_beside_a_name_is_copied_so_that_no_tree_holds_itself() -> None:
    found = neighbors("return {1: y * x, 2: y * 2 * x, 3: y / x}")  # the same change at several places at once
    assert "return {1: y / x * x, 2: y * 2 * x, 3: y / x}" in found
