"""What each expert finds in documents by code."""

from pathlib import Path

import pytest

from leadhand_teams.experts.drafts import opinion_on
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.output import ExpertOpinion
from leadhand_teams.shared.reading import read
from tests.leadhand_teams.experts.documents import write


def asked(folder: Path, expert: Expert, question: str, *names: str) -> ExpertOpinion:
    return opinion_on(question, write(folder, *names), expert)


def test_the_answer_is_a_verbatim_quote_with_its_place(tmp_path: Path) -> None:
    found = asked(tmp_path, "medical", "What is the maximum daily dose of Veltrax?")
    assert found.answered
    assert found.answer == "“The maximum daily dose is 15 mg.” (leaflet.txt:4)"
    assert found.citations[0].ref == "leaflet.txt:4"
    texts = {one.name: " ".join(one.text.split()) for one in read([tmp_path]).texts}
    for cited in found.citations:
        assert cited.quote in texts[cited.ref.partition(":")[0]]


@pytest.mark.parametrize(
    ("expert", "question", "place"),
    [
        ("legal", "May the buyer assign the contract to a bank?", "contract.md:9"),
        ("medical", "Can I take Veltrax while pregnant?", "leaflet.txt:5"),
        ("technical", "At which pressure in bar does the pump run?", "pump.md:10"),
    ],
)
def test_the_sentence_that_answers_comes_first(
    tmp_path: Path, expert: Expert, question: str, place: str
) -> None:
    found = asked(tmp_path, expert, question)
    assert (found.answered, found.citations[0].ref) == (True, place)


def test_steps_are_given_in_full_and_in_order(tmp_path: Path) -> None:
    found = asked(tmp_path, "technical", "How do I restart the pump after a fault?")
    assert found.answer == "“1. Close the valve. 2. Press START for 5 seconds.” (pump.md:5)"


def test_rows_of_figures_that_are_named_are_quoted(tmp_path: Path) -> None:
    found = asked(tmp_path, "financial", "How did revenue and operating profit change in 2025?")
    assert found.answer == (
        "“Item: Revenue; 2024: 1000; 2025: 1250”; “Item: Operating profit; 2024: 100; 2025: 90”"
        " (accounts.csv:2)"
    )
    assert [cited.ref for cited in found.citations] == ["accounts.csv:2", "accounts.csv:3"]


def test_contradictions_are_named_with_both_places_and_stay_open(tmp_path: Path) -> None:
    question = "Within how many days does the supplier deliver?"
    [one] = asked(tmp_path, "legal", question, "contract.md", "terms.md").disagreements
    assert one.what == "day: 14 or 21"
    assert not one.settled
    assert {one.one.ref, one.other.ref} == {"contract.md:7", "terms.md:5"}


def test_a_document_that_says_that_it_replaces_the_other_holds(tmp_path: Path) -> None:
    paths = write(tmp_path, "contract.md", "terms.md")
    text = Path(paths[1]).read_text(encoding="utf-8")
    Path(paths[1]).write_text(f"{text}\nThese terms replace clause 4.1.\n", encoding="utf-8")
    found = opinion_on("Within how many days does the supplier deliver?", paths, "legal")
    assert found.answer == "“The supplier delivers within 21 days of the order.” (terms.md:5)"
    [one] = found.disagreements
    assert (one.settled, one.one.ref) == (True, "terms.md:5")
    assert "These terms replace clause 4.1." in one.why


@pytest.mark.parametrize(
    ("expert", "question", "word"),
    [
        ("medical", "What is the maximum daily dose of ibuprofen?", "ibuprofen"),
        ("medical", "Can I take Veltrax with alcohol?", "alcohol"),
        ("financial", "How high was the goodwill in 2025?", "goodwill"),
    ],
)
def test_what_is_not_in_the_documents_is_asked_back(
    tmp_path: Path, expert: Expert, question: str, word: str
) -> None:
    found = asked(tmp_path, expert, question)
    assert not found.answered
    assert found.answer == ""
    assert found.ask is not None
    assert f"“{word}”" in found.ask


def test_no_advice_is_given(tmp_path: Path) -> None:
    found = asked(tmp_path, "medical", "Should I stop taking Veltrax?")
    assert (found.answered, found.answer) == (False, "")
    assert found.ask == "The experts give no advice: what should they look up in the documents?"


def test_figures_in_a_text_are_quoted_with_the_years_above_them(tmp_path: Path) -> None:
    lines = "Income statement", "2025 2024", "Revenue 1,200 1,000", "Costs (700) (800)", "Notes"
    (tmp_path / "accounts.txt").write_text("\n".join(lines), encoding="utf-8")
    found = opinion_on("How did costs change?", [str(tmp_path)], "financial")
    assert found.answer == (
        "“Costs (700) (800)” (below “Income statement > 2025 2024”) (accounts.txt:4)"
    )
    assert found.citations[0].quote == "Costs (700) (800)"


def test_columns_without_years_are_quoted_and_not_compared(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Item,Plan,Actual\nRevenue,10,12\n", encoding="utf-8")
    found = opinion_on("Did revenue increase?", [str(tmp_path)], "financial")
    assert found.answer == "“Item: Revenue; Plan: 10; Actual: 12” (a.csv:2)"


def test_instructions_in_a_document_are_neither_followed_nor_an_answer(tmp_path: Path) -> None:
    found = asked(tmp_path, "financial", "How high is the deposit?", "orders.md")
    assert found.answer == "“The deposit is EUR 500.” (orders.md:1)"
    assert [one.ref for one in found.to_reader] == ["orders.md:3"]
    assert all("EUR 1." not in cited.quote for cited in found.citations)


def test_without_documents_or_text_the_expert_asks_for_them(tmp_path: Path) -> None:
    none = opinion_on("What is the dose?", [], "medical")
    assert none.ask == "Which documents should the medical expert answer from? Hand them in."
    (tmp_path / "scan.bin").write_bytes(bytes(range(256)))
    unread = opinion_on("What is the dose?", [str(tmp_path)], "medical")
    assert not unread.answered
    assert unread.unread[0].startswith("scan.bin: ")
    assert unread.ask == "No text could be read in these files. Which other documents are there?"
