"""A model's report becomes a finding at the place of its quote, or is dropped."""

from pathlib import Path
from tempfile import mkdtemp

import pytest

from leadhand.contracts.answer import Finding, LensReport
from leadhand.synthesis.findings import Gathered, Rating, gather
from leadhand_teams.review.change import Change
from leadhand_teams.review.reported import MAX_FINDINGS, ChangeQuotes, Reported, lens_report
from tests.costs import assert_linear
from tests.leadhand_teams.review.changes import make_change

BEFORE = "def pay(user):\n    check(user)\n    send(user)\n\n\n" + "# x\n" * 30 + "y = 1\n"
AFTER = (
    "def pay(user):\n    send(user)\n\n\n" + "# x\n" * 30 + "y = 2\nsend(user)\nz = send(user)\n"
)


@pytest.fixture
def change(tmp_path: Path) -> Change:
    return make_change(tmp_path, {"a.py": AFTER}, {"a.py": BEFORE})


def said(
    evidence: str,
    *,
    line: int = 1,
    path: str = "a.py",
    rule: str = "some-rule",
    message: str = "It is wrong.",
) -> Reported:
    return Reported(
        path=path, line=line, severity="warning", rule=rule, message=message,
        suggestion="Mend it.", evidence=evidence,
    )  # fmt: skip


def one(reported: Reported, change: Change) -> Finding:
    (finding,) = lens_report([reported], change, lens="bugs").findings
    return finding


def gathered(change: Change, *reported: Reported) -> Gathered:
    report = lens_report(reported, change, lens="bugs")
    quotes = ChangeQuotes(change)
    return gather(
        [("bugs-model", report)], quotes=quotes, rating=lambda rule: Rating(99), threshold=80
    )


def test_a_quote_is_found_wherever_the_model_says_it_is(change: Change) -> None:
    for line in (1, 35, 10_000_000_000, -5):
        finding = one(said("y = 2", line=line), change)
        assert (finding.line, finding.end_line, finding.evidence) == (35, 35, "y = 2")


def test_of_the_same_words_twice_those_at_the_models_line_are_meant(change: Change) -> None:
    assert one(said("send(user)", line=37), change).evidence == "z = send(user)"
    assert one(said("send(user)", line=36), change).evidence == "send(user)"


def test_removed_lines_stand_where_they_were(change: Change) -> None:
    finding = one(said("-    2 |     check(user)", line=2), change)
    assert (finding.evidence, finding.line) == ("    check(user)", 1)
    assert ChangeQuotes(change).quoted(finding) is not None


@pytest.mark.parametrize(
    ("evidence", "path"),
    [
        ("pay(everyone)", "a.py"), ("y = 2", "b.py"), ("y = 2", "../a.py"), ("", "a.py"),
        ("def pay(user):", "a.py"), ("y = 2\nz = 4", "a.py"),
    ],
)  # fmt: skip
def test_what_the_change_does_not_have_is_dropped_and_counted(
    change: Change, evidence: str, path: str
) -> None:
    made = gathered(change, said(evidence, path=path), said("y = 2"))
    assert [finding.evidence for finding in made.findings] == ["y = 2"]
    assert [(row.rule, row.path) for row in made.dropped] == [("bugs/model-some-rule", path)]


def test_a_quote_is_looked_for_in_no_time_however_many_places_a_change_has(tmp_path: Path) -> None:
    def change_of(places: int) -> Change:
        lines = [f"x_{n} = {n}" for n in range(2 * places)]
        after = [line + "0" if n % 2 else line for n, line in enumerate(lines)]
        folder = Path(mkdtemp(dir=tmp_path))
        return make_change(folder, {"a.py": "\n".join(after)}, {"a.py": "\n".join(lines)})

    def lines_of(change: Change) -> list[int]:
        quotes = [said("x_19 = 190\nx_17 = 170"), said("x_1 = 2"), said("x_23 = 230", line=1)]
        return [one.line for one in lens_report(quotes, change, lens="bugs").findings]

    assert lines_of(change_of(20)) == [1, 1, 24]
    assert_linear(lines_of, change_of, 13)


def test_a_model_has_no_say_in_category_source_or_confidence(change: Change) -> None:
    (finding,) = gathered(change, said("y = 2", rule="security/Shell Injection!\n")).findings
    assert finding.rule == "bugs/model-shell-injection"
    assert (finding.category, finding.source, finding.confidence) == ("bugs", "model", 0)
    assert one(said("y = 2", rule="¿?"), change).rule == "bugs/model-finding"
    assert len(one(said("y = 2", rule="a b " * 100), change).rule) < 60


def test_the_id_outlives_the_models_words_and_the_part_that_it_quotes(change: Change) -> None:
    ids = {
        gathered(change, said(quote, rule=rule, message=message)).findings[0].id
        for quote, rule, message in [
            ("z = send(user)", "a", "One thing."), ("= send(user)", "b", "Put otherwise."),
            ("+   37 | z = send", "c", "Again."),
        ]
    }  # fmt: skip
    assert len(ids) == 1


def test_more_findings_than_anyone_looks_at_are_counted(change: Change) -> None:
    report = lens_report([said("y = 2")] * (MAX_FINDINGS + 5), change, lens="bugs")
    assert len(report.findings) == MAX_FINDINGS
    assert "5 findings beyond the first" in report.not_assessed[0].why
    assert lens_report([], change, lens="bugs") == LensReport()
