"""The trained router scores texts by plain arithmetic, and its file is refused if it is wrong."""

import base64
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand import InputError
from leadhand.contracts.role import Classifier
from leadhand.routing.trained import TrainedRouter, Vocabulary, guess_of, ngrams
from tests.routing.routers import LABELS, LEARNT, small_router, weights


def test_ngrams_are_words_pairs_and_pieces_of_words() -> None:
    found = ngrams("It’s I, it's")
    assert found["it's"] == 2
    assert found["it's i"] == found["i it's"] == 1
    assert found["#_it"] == found["#t's_"] == 2
    assert found["#_i_"] == 1
    assert "#i" not in found


def test_a_text_goes_to_the_worker_that_its_words_speak_for() -> None:
    router = small_router()
    assert isinstance(router, Classifier)
    assert router.workers == ("billing", "technical")
    guess = router.guess("The app crashes with an ERROR")
    assert (guess.worker, guess.accepted) == ("technical", True)
    assert 0.8 < guess.confidence < 1


def test_it_abstains_from_what_is_unlike_its_examples_and_from_what_it_is_not_sure_of() -> None:
    router = small_router()
    assert router.guess("a joke") == (None, 0.0, False)
    assert router.guess("Зимой холодно") == (None, 0.0, False)
    assert router.guess("") == (None, 0.0, False)
    unsure = router.guess("an error on my invoice, it crashes")
    assert (unsure.worker, unsure.accepted) == ("technical", False)
    assert small_router(threshold=0.1).guess("an error on my invoice, it crashes").accepted


@given(st.lists(st.sampled_from([*(one for one in LEARNT if one[0] != "#"), "other"])))
def test_scores_are_the_sums_of_plain_arithmetic(words: list[str]) -> None:
    text = " ".join(words)
    router = small_router()
    known = Vocabulary([*LEARNT], (5,) * len(LEARNT), 100).vector(text)
    rows = [*LEARNT.values()]
    for worker, score in router.candidates(text):
        column = LABELS.index(worker)
        plain = sum(factor * rows[place][column] / 100 for place, factor in known)
        assert score == pytest.approx(plain + (-0.2, -0.2, -0.6)[column], abs=1e-4)


@given(st.text(max_size=300))
def test_any_text_gets_a_probability(text: str) -> None:
    guess = small_router().guess(text)
    assert 0 <= guess.confidence <= 1


def test_a_long_text_costs_no_more_than_its_first_thousands_of_characters() -> None:
    start = "charged " * 500
    assert small_router().guess(start) == small_router().guess(start + "crashes " * 100_000)


def test_a_text_is_explained_by_the_ngrams_with_the_largest_weights() -> None:
    router = small_router()
    reasons = router.reasons("charged for an invoice, error", "billing")
    assert {word for word, _ in reasons} == {"charged", "invoice"}
    assert [worker for worker, _ in router.candidates("invoice")] == ["billing", "technical", None]


def test_scores_that_are_far_apart_are_a_probability_too() -> None:
    far = small_router(step=1_000.0)
    assert far.guess("invoice").confidence == 1.0


def test_extreme_odds_are_probabilities_too() -> None:
    assert guess_of("billing", -1e6, 0.5).confidence == 0
    assert guess_of("billing", 1e6, 0.5).confidence == 1
    assert guess_of("billing", 0, 0.5) == ("billing", 0.5, True)


# Its file


def test_a_router_is_the_same_after_it_was_written_and_read() -> None:
    text = small_router().to_json()
    again = TrainedRouter.from_json(text)
    assert again.weights == weights()
    assert again.to_json() == text
    assert "pickle" not in text


def changed(**fields: object) -> str:
    """The file with other fields."""
    return json.dumps({**json.loads(small_router().to_json()), **fields})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "router.json is not a trained router"),
        ("[]", "is not a trained router"),
        ('{"name": "x"}', "is not a trained router"),
        ("[" * 100_000, "is not a trained router"),
        (
            changed(version=1, sha256="0" * 64),
            "has version 1 of the format, and this leadhand reads version 2: train it again with "
            "`leadhand router train`",
        ),
        (changed(threshold="high"), "router.json is damaged: restore it, or train it again"),
        (changed(packed="AAAA"), "is damaged"),
        (small_router().to_json()[:-40], "is not a trained router"),
    ],
)
def test_a_foreign_newer_or_changed_file_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        TrainedRouter.from_json(text, "router.json")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"packed": zlib.compress(b"1" * 5).hex()},
        {"packed": None},
        {"bias": [0.0]},
        {"counts": [5]},
        {"counts": [500] * len(LEARNT)},
        {"counts": [0] * len(LEARNT)},
        {"labels": ["billing", "billing", None]},
        {"labels": ["billing"]},
        {"ngrams": ["", *[*LEARNT][1:]]},
        {"step": float("inf")},
        {"threshold": float("nan")},
        {"bias": [0.0, float("nan"), 0.0]},
        {"examples": 10**400},
        {"slope": 10**400},
        {"step": 1e308},
        {"bias": [1e308, 0.0, 0.0]},
    ],
)
def test_columns_that_do_not_fit_together_are_damage(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match="is damaged"):
        TrainedRouter.from_json(changed(**wrong))


def test_a_table_that_unpacks_to_more_than_it_may_is_not_unpacked() -> None:
    packed = base64.urlsafe_b64encode(zlib.compress(bytes(10_000_000))).decode()
    with pytest.raises(InputError, match="is damaged"):
        TrainedRouter.from_json(changed(packed=packed))
