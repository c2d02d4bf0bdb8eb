import pytest
import torch

from autograder.judging.card import Card
from autograder.judging.case import Case, Seen
from autograder.judging.compare import kind_of_trouble, pattern
from autograder.judging.diagnose import explain
from autograder.judging.fingerprint import fingerprint
from autograder.judging.target import Target
from autograder.judging.values import Lost, Outcome, Raised, Returned
from autograder.judging.verdict import judge

RIGHT = torch.tensor([[0.25, 0.75], [0.5, 0.5]], dtype=torch.float64)
WHOLE = torch.tensor([[1, 2], [3, 4]])
MESSAGES = {"sideways": "It lies on its side.", "doubled": "Twice too large."}


def target(name: str = "one", *, hidden: bool = False, show: bool = True, exact: bool = False) -> Target:
    known = {"sideways": fingerprint(Returned(RIGHT.mT)), "doubled": fingerprint(Returned(2 * RIGHT))}
    right = Returned(RIGHT)
    shown = {"": RIGHT} if show else None
    return Target(name, f"title of {name}", 1, fingerprint(right), known, shown, right if exact else None, hidden)


def failure(outcome: Outcome, **options: bool):
    verdict = judge("task", [target(**options)], [outcome], MESSAGES)
    assert not verdict.passed
    assert verdict.points == 0
    return verdict.failure


def test_the_right_answer_earns_all_points() -> None:
    verdict = judge("task", [target(), target("two", hidden=True, exact=True)], [Returned(RIGHT)] * 2, MESSAGES)
    assert (verdict.passed, verdict.points, verdict.failure) == (True, 2, None)


def test_a_known_mistake_is_named() -> None:
    found = failure(Returned(RIGHT.mT.clone()))
    assert (found.mistake, found.message) == ("sideways", "It lies on its side.")


def test_points_are_whole_and_per_check() -> None:
    verdict = judge("task", [target(), target("two")], [Returned(RIGHT), Returned(RIGHT * 3)], MESSAGES)
    assert (verdict.points, verdict.max_points) == (1, 2)
    assert verdict.failure.title == "title of two"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "It returned None. Is a `return` missing at the end, or in one of its branches?"),
        ([2 * RIGHT], "It returned a list or tuple with one tensor; one tensor was asked for."),
        ([2 * RIGHT, RIGHT + 1], "It returned a list or tuple with 2 tensors; one tensor was asked for."),
        ("text", "The result is the text 'text'; one tensor was asked for."),
        ({}, "The result is an empty dict; one tensor was asked for."),
        ([], "The result is an empty tuple or list; one tensor was asked for."),
        (RIGHT[:1], "The result has shape (1, 2); it should be (2, 2)."),
        (RIGHT.half(), "The result is float16; it should be float64. The numbers are right."),
        (
            RIGHT.bool(),
            "The result is bool; it should be float64.",
        ),
        (
            RIGHT * torch.nan,
            "The result contains NaN in 4 of its entries.",
        ),
        (RIGHT + torch.tensor([[0.0, 0.0], [0.0, 0.125]]), "The result[1, 1] is 0.625; it should be 0.500."),
    ],
)
def test_an_unknown_mistake_is_described(value: object, words: str) -> None:
    found = failure(Returned(value))
    assert (found.mistake, found.message) == (None, words)


WIDE = torch.arange(1.0, 17).view(4, 4)


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (WIDE * torch.tensor([1, 1, 0, 0]), " Only columns from 2 on differ; there it is 0."),
        (WIDE.tril(), " Only entries above the diagonal differ; there it is 0."),
        (WIDE.where(torch.eye(4) == 0, 0), " What differs is 0."),
        (WIDE + torch.tensor([0, 0, 1, 0]), " Only column 2 differs."),
    ],
)
def test_the_part_that_differs_is_described_and_where_nothing_was_written(value: torch.Tensor, where: str) -> None:
    assert pattern(value, WIDE, value != WIDE, truth=False) == where


def test_a_gradient_that_does_not_arrive_is_not_another_shape() -> None:
    mine, right = (fingerprint(Returned({"output": RIGHT, "gradient": g})) for g in (None, RIGHT))
    assert kind_of_trouble(mine, right).startswith("The result has None where a tensor belongs")


def test_an_input_that_was_changed_is_told_and_costs_the_point() -> None:
    for exact in (True, False):
        found = failure(Returned(RIGHT, changed=True), exact=exact)
        assert found.message.startswith("One of the inputs was changed in place.")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"q": RIGHT + 1, "k": RIGHT}, "a dictionary with 'q', 'k'"),
        ([(RIGHT, RIGHT), (RIGHT, RIGHT)], "a list or tuple with 2 things"),
    ],
)
def test_a_result_of_the_wrong_structure_is_described(value: object, words: str) -> None:
    assert failure(Returned(value)).message == f"It returned {words}; one tensor was asked for."


def test_booleans_are_shown_as_true_and_false() -> None:
    right = Returned(torch.tensor([[True, False], [True, True]]))
    goal = Target("n", "t", 1, fingerprint(right), {}, {"": right.tree})
    found = judge("task", [goal], [Returned(torch.tensor([[False, False], [True, True]]))], {}).failure
    assert found.message == "The result[0, 0] is False; it should be True."
    assert found.picture.truth


def test_names_of_the_docstring_are_used() -> None:
    right = Returned((RIGHT, RIGHT.mT))
    goal = Target("n", "t", 1, fingerprint(right), names=("output", "weights"))
    found = judge("task", [goal], [Returned((RIGHT, RIGHT[:, :1]))], {}).failure
    assert found.message == "weights has shape (2, 1); it should be (2, 2)."


def test_none_deep_inside_is_called_by_its_name() -> None:
    right = Returned({"with a mask": (RIGHT, RIGHT.mT)})
    goal = Target("n", "t", 1, fingerprint(right), names=("output", "weights"))
    found = judge("task", [goal], [Returned({"with a mask": (RIGHT, None)})], {}).failure
    assert found.message.startswith("With a mask: weights is None; one tensor was asked for.")
    nothing = judge("task", [goal], [Returned({"with a mask": None})], {}).failure
    assert nothing.message == "It returned None. Is a `return` missing at the end, or in one of its branches?"


def test_what_nobody_named_has_a_key_that_equal_answers_share() -> None:
    a, b = (failure(Returned(RIGHT * 3 + noise), show=False).unknown for noise in (0.0, 1e-9))
    assert a == b != failure(Returned(RIGHT * 4 + 1)).unknown
    assert failure(Returned(RIGHT.mT.clone())).unknown == ""


def test_an_error_is_shown_with_the_line_that_raised_it() -> None:
    found = failure(Raised("TypeError", "bad operand\nmore", "x + None"))
    assert found.message == "It stopped with TypeError in `x + None`: bad operand."


def test_a_lost_process_is_explained() -> None:
    assert failure(Lost("It was still running after 20 seconds.")).message == "It was still running after 20 seconds."


def test_the_first_differing_entry_comes_with_a_picture() -> None:
    picture = failure(Returned(RIGHT * 3)).picture
    assert picture.expected == RIGHT.tolist()
    assert all(all(row) for row in picture.differs)


def test_without_expected_values_only_the_shape_is_confirmed() -> None:
    found = failure(Returned(RIGHT.exp()), show=False)
    assert (found.message, found.picture) == ("The shape is right, the numbers are not.", None)


def test_a_hidden_check_shows_neither_numbers_nor_the_students_own_text() -> None:
    secret = "the inputs were 1.2345"
    for outcome in (Raised(secret, secret, secret), Returned(secret), Returned(RIGHT * 3), Lost("gone")):
        found = failure(outcome, hidden=True, exact=True)
        assert found.picture is None
        assert "1.2345" not in found.message + found.detail
        assert "on inputs that you have not seen" in found.message


def test_an_exercise_that_was_not_touched_is_not_started() -> None:
    verdict = judge("task", [target(), target("two")], [Raised("NotImplementedError", "")] * 2, MESSAGES)
    assert (verdict.started, verdict.points) == (False, 0)


def test_grading_and_the_desk_have_one_strictness() -> None:
    for size, right in ((1e-6, True), (1e-2, False)):
        nearly = Returned(RIGHT + size)
        assert [judge("task", [target(exact=exact)], [nearly], MESSAGES).passed for exact in (True, False)] == [
            right
        ] * 2


def test_only_the_released_stub_is_not_started() -> None:
    for raised in (
        Raised("NotImplementedError", "\"softmax_kernel_impl\" not implemented for 'Long'"),
        Raised("NotImplementedError", "", "return scores.my_softmax()"),
    ):
        assert judge("task", [target()], [raised], MESSAGES).started
    stub = Raised("NotImplementedError", "", "raise NotImplementedError()")
    assert not judge("task", [target()], [stub], MESSAGES).started


@pytest.mark.parametrize(("mine", "words"), [(float("inf"), "inf"), (float("nan"), "nan")])
def test_a_number_that_is_not_finite_is_described(mine: float, words: str) -> None:
    known = Target("one", "A number.", 1, fingerprint(Returned(0.5)))
    found = judge("e", [known], [Returned(mine)], {}).failure
    assert found.message == f"The result is {words}; it should be 0.5."


def test_a_bool_is_not_a_number_and_an_integer_is_not_a_float() -> None:
    for mine, theirs in ((True, 1), (1, 1.0), (1.0, True)):
        right = Returned(theirs)
        goal = Target("n", "t", 1, fingerprint(right), exact=right)
        assert not judge("task", [goal], [Returned(mine)], {}).passed


LAYERS = "k_proj.weight (4, 4), q_proj.weight (4, 4)"


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        (f"{LAYERS}, v_proj.bias (4,)", "The result has v_proj.bias (4,), not asked for."),
        ("k_proj.weight (2, 4), q_proj.weight (4, 4)", "lacks k_proj.weight (4, 4) and has k_proj.weight (2, 4)"),
        ("nothing", "The result is 'nothing', not 'k_proj"),
    ],
)
def test_of_a_list_in_words_the_items_that_differ_are_named(mine: str, words: str) -> None:
    known = Target("one", "T.", 1, fingerprint(Returned(LAYERS)))
    assert words in judge("task", [known], [Returned(mine)], {}).failure.message


def test_a_mistake_that_gives_one_of_several_wrong_results_by_chance_is_not_told() -> None:
    tensors = [torch.arange(4.0) + n for n in range(8)]
    right, wrong = Returned(tensors[:4]), Returned([*tensors[:3], tensors[7]])
    known = Target("one", "T.", 1, fingerprint(right), {"last": fingerprint(wrong)})
    mine = Returned([tensors[5], tensors[6], tensors[0], tensors[7]])
    assert judge("task", [known], [mine], {"last": "The last."}).failure.mistake is None
    one_wrong = Returned([*tensors[:2], tensors[5], tensors[7]])
    assert judge("task", [known], [one_wrong], {"last": "The last."}).failure.mistake is None


PASSES = "Without `.float()` in line 2, every check passes."


def told(wrong: object, mine: object, right: object = RIGHT) -> str:
    known = {"listed": fingerprint(Returned(wrong))}
    goal = Target("n", "t", 1, fingerprint(Returned(right)), known)
    case = Case([goal], [Returned(mine)], 0, {"listed": "The author's own words."}, search=lambda: Seen(repair=PASSES))
    return explain(case).message


def test_a_repair_is_told_beside_a_known_mistake_whose_numbers_others_share() -> None:
    assert told(RIGHT.float(), RIGHT.float()) == f"The author's own words. {PASSES}"
    assert told({"no gradient": True}, {"no gradient": True}, {"no gradient": False}).endswith(PASSES)
    assert told(2 * RIGHT, 2 * RIGHT) == "The author's own words."


def test_a_yes_or_no_is_told_in_words_and_not_beside_a_reason() -> None:
    goal = Target("n", "t", 1, fingerprint(Returned({"infinity in the gradient": False})))
    found = judge("task", [goal], [Returned({"infinity in the gradient": True})], {}).failure
    assert (found.message, found.detail) == ("Infinity in the gradient: yes, but it should be no.", "")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (torch.full((2, 2), 0.5), "Every entry is 0.500."),
        (-RIGHT, "Every entry is -1 times what it should be."),
        (3 * RIGHT, "Every entry is 3 times what it should be."),
        (RIGHT.flip(0), ""),
    ],
)
def test_how_a_whole_tensor_differs_is_said(wrong: torch.Tensor, words: str) -> None:
    goal = Target("n", "t", 1, fingerprint(Returned(RIGHT)), expected={"": RIGHT})
    message = judge("task", [goal], [Returned(wrong.double())], {}).failure.message
    assert message.endswith(words)
    assert "Every" in message or not words


def test_whole_numbers_are_shown_as_whole_numbers() -> None:
    goal = Target("n", "t", 1, fingerprint(Returned(WHOLE)), expected={"": WHOLE})
    assert "3.000" not in repr(Card(judge("task", [goal], [Returned(WHOLE + 1)], {})))
