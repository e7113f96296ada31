"""The team contracts, run as users run it: what it answers on its samples and on bad inputs."""

from pathlib import Path

import pytest

from leadhand.teams.loader import inspect
from leadhand_teams.contracts.planning import versions
from leadhand_teams.contracts.report import files
from tests.leadhand_teams.contracts.reviews import SAMPLES, planned, refused, reviewed

_OLD, _NEW = SAMPLES / "services-v1.md", SAMPLES / "services-v2.md"
_NDA = SAMPLES / "nda" / "mutual-nda.md"
_REQUEST = (SAMPLES / "request.txt").read_text()


def test_the_folder_has_no_problem_and_workers_share_no_tools() -> None:
    inspection = inspect("contracts")
    assert (inspection.problems, inspection.warnings) == ((), ())
    assert inspection.team is not None
    assert inspection.team.shared_tools == ()


def test_the_sample_fills_every_list_and_each_quote_is_the_text_at_its_offsets() -> None:
    answer, review = reviewed(_REQUEST, _OLD, _NEW)
    assert (answer.status, answer.engine) == ("complete", "deterministic")
    texts = {one.name: one.read_text() for one in (_OLD, _NEW)}
    quotes = [
        *(quote for one in review.clauses for quote in one.quotes),
        *(quote for one in review.checks for quote in one.quotes),
        *(quote for one in review.risks for quote in one.quotes),
    ]
    assert len(quotes) > 20
    assert all(
        texts[one.ref.split("#")[0].split(":")[0]][one.start : one.end] == one.text
        for one in quotes
    )
    assert all(len(one.text) <= 600 for one in quotes)
    changed = {one.quotes[0].ref for one in review.risks if "earlier version" in one.title}
    wanted = {
        "services-v1.md#8.2",
        *(f"services-v2.md#{number}" for number in (1.2, 3.1, 3.2, 5.1)),
    }
    assert changed == wanted
    caps = [one.ref for one in review.checks if one.rule in {"mutual-cap", "liability-cap"}]
    assert caps == ["services-v2.md#5.2"] * 2
    assert "docs/" not in str(files(answer)["report.md"])
    values = {one.category: one.answer for one in review.clauses}
    assert values["Governing Law"] == "England; Wales"
    assert values["Notice Period To Terminate Renewal"] == "90 days"
    assert values["Cap On Liability"] == "£150,000"
    assert values["Audit Rights"] is None
    concerns = {one.rule for one in review.checks if one.concern}
    assert {"mutual-cap", "renewal-notice", "no-exclusivity", "no-minimum"} <= concerns
    assert "governing-law" not in concerns
    assert [one.severity for one in review.risks] == sorted(
        (one.severity for one in review.risks), key=["high", "medium", "low"].index
    )


def test_changes_between_versions_have_a_direction_and_a_reason() -> None:
    _, review = reviewed("What changed since the earlier version?", _OLD, _NEW)
    assert review.clauses == review.checks == ()
    found = {(one.category, one.kind): one for one in review.compared}
    assert found["Cap On Liability", "tightened"].why.startswith("£500,000 became £150,000")
    assert found["Services", "loosened"].why == "4 hours became 8 hours"
    assert found["Exclusivity", "added"].before is None
    assert found["Audit Rights", "dropped"].where == "services-v1.md#6.2"
    assert not any("entire agreement" in (one.after or "") for one in review.compared)


def test_an_nda_is_judged_by_the_statements_of_its_playbook() -> None:
    answer, review = reviewed("Check this NDA against the playbook nda", _NDA)
    assert (answer.status, review.playbook, review.clauses) == ("complete", "nda", ())
    verdicts = {one.rule: one.verdict for one in review.checks}
    assert len(verdicts) == 17
    assert verdicts["nda-11"] == verdicts["nda-4"] == verdicts["nda-8"] == "entailed"
    assert verdicts["nda-17"] == "contradicted"
    assert verdicts["nda-12"] == verdicts["nda-10"] == "not_mentioned"
    best = next(one.quotes[0].ref for one in review.checks if one.rule == "nda-11")
    assert best == "mutual-nda.md#3.5"


def test_a_concern_depends_on_the_side_that_the_request_names() -> None:
    _, ours = reviewed("Check this NDA for us as the receiving party", _NDA)
    _, theirs = reviewed("Check this NDA for the disclosing party", _NDA)
    assert (ours.side, theirs.side) == ("recipient", "discloser")
    assert [one.verdict for one in ours.checks] == [one.verdict for one in theirs.checks]
    assert {one.rule for one in ours.checks if one.concern} != {
        one.rule for one in theirs.checks if one.concern
    }


def test_two_requests_that_want_different_work_get_different_plans() -> None:
    def workers(request: str) -> list[str]:
        return [task.worker for task in planned(request, _NEW, _NDA).tasks]

    assert workers("Which governing law applies?") == ["clauses", "clauses"]
    assert workers("Check them against our rules") == ["compliance", "compliance"]
    assert workers("Review these contracts") == ["clauses", "compliance", "risk"] * 2
    law = planned("Which governing law applies?", _NEW).tasks[0].payload
    assert isinstance(law, dict)
    assert law["categories"] == ["Governing Law"]
    first = planned("Review these contracts", _NEW, _NDA).tasks
    assert all(task.depends_on == () for task in first if task.worker != "risk")


def test_a_playbook_of_the_user_is_used_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    book = tmp_path / "ours.yaml"
    book.write_text(
        "rules:\n"
        "- {id: law, statement: Irish law., must: Governing Law, wording: [Ireland]}\n"
        "- {id: pay, statement: Thirty days to pay., wording: ['within thirty']}\n"
        "- {id: insured, statement: Cover., within: Insurance, min: '£5,000,000'}\n"
    )
    _, review = reviewed("Check it against the playbook", _NEW, book)
    assert review.playbook == "ours"
    found = {one.rule: (one.verdict, one.why) for one in review.checks}
    assert found["law"] == ("contradicted", "Governing Law lacks the wording of the rule")
    assert found["pay"] == ("entailed", "")
    assert found["insured"] == ("contradicted", "£1,000,000, at least £5,000,000 allowed")
    book.write_text(f"extends: commercial\n{book.read_text()}")
    _, extended = reviewed("Check it against the playbook", _NEW, book)
    assert {"law", "mutual-cap"} <= {one.rule for one in extended.checks}
    book.write_text("rules: [{id: a, statement: b, must: Nonsense}]")
    wrong = refused("Check it against the playbook", _NEW, book)
    assert wrong.startswith("the playbook ours can't be used: rules.0.must: no category 'Nonsense'")
    assert "pydantic" not in wrong
    book.write_text('rules:\n- {id: a, statement: b, wording: ["\\("]}')
    assert refused("Check it", _NEW, book).startswith("the playbook ours is not YAML")


def test_files_whose_names_differ_in_their_version_are_versions_of_one_contract() -> None:
    pair = ["in/lease_v10.docx", "in/lease_v2.docx", "in/nda.docx"]
    assert versions(pair) == [("in/lease_v2.docx", "in/lease_v10.docx")]
    assert versions(["new/lease.md", "old/lease.md"]) == [("old/lease.md", "new/lease.md")]
    dated = ["a 2026-03-09.pdf", "a 2026-01-12.md"]
    assert versions(dated) == [("a 2026-01-12.md", "a 2026-03-09.pdf")]
    assert versions(["lease.md", "nda.md"]) == []


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_the_report_shows_what_a_contract_says_as_text(name: str, tmp_path: Path) -> None:
    markup = tmp_path / "markup.txt"
    law = "10.1 This Agreement is governed by the laws of <script>alert(1)</script> France."
    markup.write_text(f"{_NEW.read_text()}\n\n{law}\n")
    answer, _ = reviewed("Review this contract", markup)
    shown = files(answer)[name]
    assert isinstance(shown, str)
    assert "<script>alert" not in shown
    assert "not legal advice" in shown
