"""What an attacker with the code at hand got through, one test each."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.classroom.archives import MOST_FILES, CollectionReport, read_zip
from autograder.grading.outputs import clean_outputs
from autograder.grading.sandbox.codec import LONGEST_NAME, MOST_ENTRIES, pack_outcome, unpack_outcome
from autograder.grading.sandbox.monitor import threads_of
from autograder.grading.sandbox.not_graded import open_by_name
from autograder.judging import fingerprint
from autograder.judging.fingerprint import USUAL_ENTRIES, kept_vectors, vectors
from autograder.judging.operators import AND_MORE, MOST_NAMES, recording
from autograder.judging.sentences import ANSWERS
from autograder.judging.shortcuts import record_is_odd, shortcut
from autograder.judging.target import Target
from autograder.judging.values import Other, Returned
from autograder.judging.verdict import judge
from autograder.paths import Lesson

from .conftest import needs_sandbox
from .graded import handed_in, record_of

LESSON = Lesson("02_queries_keys_values", Path("/course"))


def through(value: object) -> object:
    outcome = unpack_outcome(pack_outcome(Returned(value)))
    assert isinstance(outcome, Returned)
    return outcome.tree


def test_long_names_of_results_are_cut() -> None:
    (name,) = through({"k" * 40_000: 1})
    assert len(name) == LONGEST_NAME


def test_a_tensor_of_a_size_that_nobody_asked_for_is_named_only() -> None:
    assert through(torch.zeros(MOST_ENTRIES + 1, dtype=torch.bool)) == Other("tensor beyond 500,000 entries")


def test_many_tensors_are_no_larger_than_one_may_be() -> None:
    found = through([torch.zeros(MOST_ENTRIES // 2, dtype=torch.bool) for _ in range(4)])
    assert [isinstance(tensor, Other) for tensor in found] == [False, False, True, True]


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.uint16])
def test_a_dtype_that_cannot_be_compared_is_named_only(dtype: torch.dtype) -> None:
    assert isinstance(through(torch.zeros(2).to(dtype)), Other)


def test_vectors_for_large_tensors_are_not_kept() -> None:
    before = kept_vectors.cache_info().currsize
    vectors(USUAL_ENTRIES + 1)
    assert kept_vectors.cache_info().currsize == before


LARGE = {
    "many tensors": lambda: [torch.randn(3) for _ in range(9000)],
    "many pairs": lambda: [[torch.randn(3) for _ in range(4500)] for _ in range(2)],
    "a dictionary": lambda: {f"name {n}": torch.randn(3) for n in range(9000)},
    "many texts": lambda: ["x" * 9000] * 9000,
    "much in one": lambda: torch.randn(MOST_ENTRIES),
    "another shape": lambda: [torch.randn(500, 500), torch.randn(500, 500)],
}


@pytest.mark.parametrize("made", LARGE)
def test_an_answer_that_is_far_too_large_is_not_searched_for_reasons(key, made: str, monkeypatch) -> None:
    key.verdict("attend", 5, [Returned(1)] * len(key.checks_of("attend")))  # what mistakes give is known then
    seen, real = [], fingerprint.tensor_fingerprint
    monkeypatch.setattr(fingerprint, "tensor_fingerprint", lambda tensor: (seen.append(tensor), real(tensor))[1])
    verdict = key.verdict("attend", 5, [Returned(LARGE[made]()) for _ in key.checks_of("attend")])
    assert sum(tensor.numel() for tensor in seen) + len(seen) < 1000
    assert (verdict.points, verdict.failure.mistake) == (0, None)
    assert "was asked for" in verdict.failure.message or "it should be" in verdict.failure.message
    assert len(verdict.failure.message) < 1000


def test_what_a_large_answer_of_another_check_hides_is_explained(key) -> None:
    checks = key.checks_of("attend")
    outcomes = [checks[0].values(lambda q, k, v: None, 5), *(Returned(LARGE["many tensors"]()) for _ in checks[1:])]
    assert "return" in key.verdict("attend", 5, outcomes).failure.message


@needs_sandbox
@pytest.mark.parametrize("value", ["torch.full_like(value, 1e200)", "value.to(torch.uint16)", "value * 1e308 * 10"])
def test_no_value_stops_the_judge(package, value: str) -> None:
    source = f"def attend(query, key, value):\n    return {value}, {value}"
    assert "attend" in record_of(handed_in(package, {"attend": source}))["verdicts"]


def test_a_record_that_does_not_arrive_whole_says_so() -> None:
    sent = Returned(1, ran=(*map(str, range(MOST_NAMES - 1)), "heads::mine", "uses::eval"))
    came = unpack_outcome(pack_outcome(sent))
    assert isinstance(came, Returned)
    assert len(came.ran) == MOST_NAMES
    assert AND_MORE in came.ran


@pytest.mark.parametrize("options", [{"opener": lambda *_: 0}, {}])
def test_no_file_is_opened_by_a_number_that_an_opener_gives(options: dict[str, Any]) -> None:
    by_place = () if options else ("r", -1, None, None, None, True, lambda *_: 0)
    with pytest.raises(TypeError, match="by its name"):
        open_by_name("a file", *by_place, **options)


def test_a_full_record_is_odd() -> None:
    names = {str(n) for n in range(MOST_NAMES)}
    with recording(names):
        torch.ones(2).softmax(dim=0)
    assert AND_MORE in names
    assert record_is_odd([], "task", [Returned(1, ran=tuple(names))])


@pytest.mark.parametrize(("banned", "odd"), [("softmax", True), ("torch", False)])
def test_an_empty_record_is_odd_unless_all_of_pytorch_is_forbidden(banned: str, odd: bool) -> None:
    bans = [shortcut("task", banned, because="No.")]
    assert record_is_odd(bans, "task", [Returned(1)]) is odd


def test_an_empty_record_is_not_odd_where_the_solution_runs_nothing_of_pytorch() -> None:
    assert not record_is_odd([shortcut("task", "Recipe", because="No.")], "task", [Returned(1)], known=())


def test_how_many_things_came_back_is_not_said_of_hidden_checks() -> None:
    right = Returned(torch.ones(2, 3))
    target = Target("t", "T.", 1, fingerprint.fingerprint(right), exact=right, hidden=True)
    failure = judge("task", [target], [Returned([right.tree] * 7)], {}).failure
    assert failure is not None
    assert failure.message == ANSWERS["trouble unseen"].format(trouble="The result has another structure")


def test_what_cannot_be_encoded_is_replaced() -> None:
    (output,) = clean_outputs([{"output_type": "stream", "name": "stdout", "text": "a\ud800b"}])
    output["text"].encode()


def test_a_huge_page_is_not_shown() -> None:
    data = {"text/html": "<p>" * 100_000, "text/plain": "short"}
    (output,) = clean_outputs([{"output_type": "display_data", "data": data, "metadata": {}}])
    assert output["data"] == {"text/plain": "short"}


def test_threads_are_counted() -> None:
    assert threads_of(1) >= 1
    assert threads_of(2**22 + 1) == 0


def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return buffer


def test_a_member_that_may_inflate_without_end_is_left_out() -> None:
    report = CollectionReport()
    members = archive({"jane.ipynb": b"0" * 1000}, zipfile.ZIP_BZIP2)
    assert list(read_zip("class.zip", members, LESSON, report, None)) == []
    assert "compressed in a way" in report.left_out[0]


def test_one_upload_crowds_nobody_out() -> None:
    many = {f"Eve_1_assignsubmission_file_/{n}.txt": b"" for n in range(MOST_FILES + 5)}
    members = archive({**many, "Zoe_2_assignsubmission_file_/a.ipynb": b"{}"})
    report = CollectionReport()
    found = list(read_zip("class.zip", members, LESSON, report, None))
    assert found[-1].name.endswith("a.ipynb")
    assert len(found) == MOST_FILES + 1
    assert len(report.left_out) == 1
    assert report.left_out[0].startswith("Eve")
