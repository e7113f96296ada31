"""Terms against the reader, what a contract says against a rule, and what is said once."""

from pathlib import Path

import pytest

from leadhand_teams.contracts.output import ContractReview
from leadhand_teams.contracts.report import report
from tests.leadhand_teams.contracts.reviews import SAMPLES, reviewed

_NDA = SAMPLES / "nda" / "mutual-nda.md"
_HOLLIS = """# SERVICES AGREEMENT

This Services Agreement (the "Agreement") is made on 9 March 2026 between Hollis Ltd, a company \
registered in England ("Client"), and Brightwell Data GmbH, a company registered in Germany \
("Vendor").

2.1 This Agreement shall commence on 1 April 2026 and continue for a term of three (3) years.

3.1 Vendor may increase the fees at any time upon ten (10) days' notice to Client.

3.2 Late payments bear interest at the rate of 1.5% per month.

4.1 All work product shall be owned exclusively by Vendor.

5.1 Vendor's total aggregate liability under this Agreement shall not exceed the fees paid in \
the one month before the claim.

5.2 Client's liability under this Agreement shall be unlimited.

5.3 Client shall indemnify, defend and hold harmless Vendor against all claims.

7.1 Vendor may terminate this Agreement at any time for any reason upon five (5) days' notice.

7.2 Either party may terminate this Agreement if the other is in material breach and does not \
cure it within thirty (30) days of notice.

9.1 Client may not assign this Agreement without the prior written consent of Vendor.

9.2 For the purposes of this section a change of control of Client is deemed an assignment.

9.3 This Agreement shall be governed by the laws of England.
"""


@pytest.fixture
def hollis(tmp_path: Path) -> Path:
    path = tmp_path / "hollis.md"
    path.write_text(_HOLLIS)
    return path


def _high(review: ContractReview) -> set[str]:
    return {one.quotes[0].text[:3] for one in review.risks if one.severity == "high" and one.quotes}


def test_a_rule_is_missing_only_if_no_sentence_has_its_words(hollis: Path) -> None:
    _, review = reviewed("Review for us as the customer", hollis)
    found = {one.rule: one for one in review.checks}
    assert found["ip-ownership"].verdict == "contradicted"
    assert found["ip-ownership"].quotes[0].text.startswith("4.1")
    assert found["change-of-control"].verdict == "entailed"
    assert found["change-of-control"].quotes[0].text.startswith("9.2")
    assert found["audit"].verdict == "not_mentioned"


def test_terms_against_the_reader_are_high_risks_with_quotes(hollis: Path) -> None:
    _, review = reviewed("Review for the client", hollis)
    assert review.side == "customer"
    assert _high(review) == {"3.1", "3.2", "4.1", "5.1", "5.2", "5.3", "7.1", "9.2"}
    assert all(one.question for one in review.risks)
    assert len({one.quotes[0].start for one in review.risks if one.quotes}) == 8


def test_terms_for_the_reader_and_terms_of_both_are_not_against_it(hollis: Path) -> None:
    _, review = reviewed("Review it for the vendor", hollis)
    assert review.side == "supplier"
    assert not _high(review) & {"3.1", "3.2", "4.1", "5.2", "5.3", "7.1", "9.1", "9.2"}
    both = _HOLLIS.replace("5.3 Client", "5.3 Each party").replace("7.1 Vendor", "7.1 Either party")
    hollis.write_text(both.replace("days' notice to Client", "days' notice, by at most 3%"))
    _, review = reviewed("Review it for the client", hollis)
    assert not _high(review) & {"3.1", "5.3", "7.1"}


def test_a_recipient_hears_of_a_missing_exception_for_courts_and_of_nothing_twice(
    tmp_path: Path,
) -> None:
    text = _NDA.read_text()
    path = tmp_path / "nda.md"
    kept = [line for line in text.splitlines() if "court" not in line and "required" not in line]
    path.write_text("\n".join(kept))
    _, review = reviewed("Is this NDA fine for us as the recipient?", path)
    titles = {one.rule: one.title for one in review.risks}
    assert titles["nda-8"].startswith("The contract does not say what the playbook wants: “")
    assert "nda-18" in titles
    assert "no-hire" not in titles


def test_what_changed_against_the_reader_is_a_risk_unless_it_is_already_one(tmp_path: Path) -> None:
    old, new = tmp_path / "hollis-v1.md", tmp_path / "hollis-v2.md"
    duties = "8.1 Vendor shall answer calls within four hours.\n\n8.2 Client may inspect the site."
    paid = "8.3 Client shall pay within thirty (30) days.\n\n8.4 Client may store its own backups."
    cap = "5.1 Vendor's total aggregate liability under this Agreement shall not exceed £90,000."
    before = _HOLLIS.replace(_HOLLIS[_HOLLIS.index("5.1") : _HOLLIS.index("5.2")], f"{cap}\n\n")
    old.write_text(f"{before}\n{duties}\n\n{paid}\n")
    changed = f"{before}\n{duties}\n\n{paid}\n".replace("8.4 Client may store its own backups.", "")
    changed = changed.replace("four hours", "eight hours").replace("thirty (30)", "ten (10)")
    new.write_text(changed.replace("£90,000", "£10,000"))

    def raised(side: str) -> list[str]:
        _, review = reviewed(f"Review it for us as the {side}", old, new)
        return [
            one.title.split(":")[0][:9] + one.quotes[0].text[:3]
            for one in review.risks
            if "since" in one.title
        ]

    assert raised("customer") == ["Loosened 8.1", "Tightened8.3", "Dropped s8.4"]
    assert raised("supplier") == []


def test_one_is_counted_as_one() -> None:
    _, review = reviewed("Is this NDA fine for us as the recipient?", _NDA)
    first = next(one for one in review.checks if one.concern)
    rest = tuple(one.model_copy(update={"concern": False}) for one in review.checks)
    single = review.model_copy(update={"checks": (first, *rest), "risks": review.risks[:1]})
    shown = report(single, "Review").markdown()
    assert "1 point to raise" in shown
    assert "1 concern for the recipient by the 18 rules of the playbook nda" in shown
