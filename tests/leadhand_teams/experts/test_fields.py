"""Whom a question is for: by words alone, and with a trained router."""

import pytest

from leadhand_teams.experts.fields import choose


@pytest.mark.parametrize(
    ("question", "expert"),
    [
        ("Can my landlord evict me without notice?", "legal"),
        ("What is the maximum daily dose of paracetamol for an adult?", "medical"),
        ("How do I reset the router to factory settings over SSH?", "technical"),
        ("How did the operating profit and the dividends change in 2025?", "financial"),
        ("Why does useEffect() run twice?", "technical"),
        ("Which philosopher wrote about virtue and happiness?", None),
        ("Where is it?", None),
        ("", None),
    ],
)
def test_a_question_goes_to_the_field_of_its_words(question: str, expert: str | None) -> None:
    assert choose(question).expert == expert


def test_a_question_for_two_fields_has_a_second_expert() -> None:
    choice = choose("Is the penalty in the lease agreement tax deductible for the landlord?")
    assert {choice.expert, choice.secondary} == {"legal", "financial"}
    assert choose("Can my landlord evict me?").secondary is None


def test_words_without_a_field_leave_the_choice_unsure() -> None:
    sure, unsure = choose("Is the court's verdict an appellate ruling of law?"), choose("a plan")
    assert sure.confidence > 90 > unsure.confidence


class Router:
    """Scores as a trained router does."""

    def __init__(self, *scores: tuple[str | None, float]) -> None:
        self.scores = [*scores]

    def candidates(self, text: str, most: int = 3) -> list[tuple[str | None, float]]:
        return self.scores[:most]


def test_a_trained_router_and_the_words_decide_together() -> None:
    question = "Where is the thing in the lease?"
    assert choose(question).expert == "legal"
    assert choose(question, Router(("technical", 1.5), ("legal", -0.5))).expert == "technical"
    assert choose(question, Router(("technical", 0.1), ("legal", 0.0))).expert == "legal"
    assert choose(question, Router((None, 1.0), ("legal", -0.5))).expert is None
    assert choose(question, Router(("a worker of another team", 3.0))).expert == "legal"
