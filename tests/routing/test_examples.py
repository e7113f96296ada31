"""Examples are read from JSON lines; mistakes are named with their lines; figures count them."""

import pytest

from leadhand import InputError
from leadhand.contracts.role import Guess
from leadhand.routing.examples import Example, calibration_error, figures, read_examples

WORKERS = ["billing", "technical"]


def test_examples_may_name_the_workers_that_should_get_them_too() -> None:
    lines = [
        '{"text": "Grüße\\nan alle", "worker": "billing"}',
        " ",
        '{"text": "both", "worker": "billing", "also": ["technical"], "why": "of a run"}',
        '{"text": "a joke", "worker": null, "also": []}',
    ]
    assert read_examples(lines, WORKERS, source="a.jsonl") == [
        Example("Grüße\nan alle", "billing"),
        Example("both", "billing", ("technical",)),
        Example("a joke", None, ()),
    ]


def test_every_kind_of_mistake_is_named_once_with_its_lines_and_what_to_do() -> None:
    lines = [
        '{"text": "x", "worker": "billing"}',
        "text",
        '{"text": "x", "worker": "biling"}',
        '{"text": " ", "worker": "billing"}',
        '{"text": "x"}',
        *['{"text": "x", "worker": "biling"}'] * 6,
        '["x", "billing"]',
        '{"text": "x", "worker": "sales"}',
        '{"text": "x", "worker": "billing", "also": "technical"}',
        '{"text": "x", "worker": "billing", "also": [7]}',
        '{"text": "x", "worker": "billing", "also": ["technical", "billing"]}',
        '{"text": "x", "worker": null, "also": ["billing"]}',
        '{"text": "x", "worker": "%s"}' % ("sales" * 1000),
    ]
    with pytest.raises(InputError) as refused:
        read_examples(lines, WORKERS, source="a.jsonl")
    said = str(refused.value)
    assert 'a.jsonl, line 2: it is not JSON: write {"text": "...", "worker": "NAME"}' in said
    assert (
        "a.jsonl, lines 3, 6, 7, 8, 9 and 2 more: there is no worker 'biling' in the team: did you "
        "mean 'billing'?"
    ) in said
    assert 'line 4: its "text" is wrong: String should match' in said
    assert 'line 5: its "worker" is wrong: Field required: write' in said
    assert "line 12: Input should be" in said
    assert "line 13: there is no worker 'sales' in the team: they are billing, technical" in said
    assert 'line 14: its "also" is wrong: Input should be a valid' in said
    assert 'line 15: its "also" is wrong: Input should be a valid string' in said
    assert 'lines 16, 17: its "also" is wrong: it names workers beside the one in "worker"' in said
    assert "line 18: there is no worker 'salessales" in said
    assert len(said) < 2_000
    assert "\n" not in said


def test_a_row_may_name_a_kind_that_the_team_gives_to_a_worker() -> None:
    kinds = {"bug": "technical"}
    rows = ['{"text": "x", "kind": "bug"}', '{"text": "y", "kind": "bug", "worker": "billing"}']
    assert read_examples(rows, WORKERS, source="a.jsonl", kinds=kinds) == [
        Example("x", "technical"),
        Example("y", "billing"),
    ]
    with pytest.raises(InputError, match="line 1: there is no kind 'bugs' in the team: they are"):
        read_examples(['{"text": "x", "kind": "bugs"}'], WORKERS, source="a.jsonl", kinds=kinds)


def test_a_file_without_examples_is_refused() -> None:
    with pytest.raises(InputError, match=r"a.jsonl has no examples: write one a line"):
        read_examples(["", ""], WORKERS, source="a.jsonl")


def test_figures_are_shares_of_what_their_names_say() -> None:
    def guess(worker: str | None, confidence: float) -> Guess:
        return Guess(worker, confidence, accepted=confidence >= 0.5)

    judged = [
        ("billing", guess("billing", 0.9)),
        ("billing", guess("technical", 0.7)),
        ("technical", guess("technical", 0.3)),
        ("technical", guess("technical", 0.8)),
        (None, guess("billing", 0.6)),
        (None, guess(None, 0.0)),
    ]
    examples = [Example("x", worker) for worker, _ in judged]
    guesses = [one for _, one in judged]
    found = figures(examples, guesses)
    assert (found.examples, found.out_of_scope) == (4, 2)
    assert found.accuracy == 0.75
    assert found.accepted == 0.75
    assert found.right == pytest.approx(2 / 3)
    assert found.out_of_scope_accepted == 0.5
    assert calibration_error(examples, guesses) == pytest.approx(abs(0.9 + 0.7 + 0.3 + 0.8 - 3) / 4)
    sure, unsure = [guess("billing", 0.9)] * 100, [guess("billing", 0.1)] * 100
    halves = [Example("x", worker) for worker in ("billing", "technical") * 100]
    assert calibration_error(halves, [*sure, *unsure]) == pytest.approx(0.4)
    assert {*found.confused} == {
        ("billing", "technical", 1),
        (None, "billing", 1),
    }
    nothing = figures([], [])
    assert nothing.accuracy is nothing.right is calibration_error([], []) is None
