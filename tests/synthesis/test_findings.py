"""Many lenses' reports become one review: nothing invented, nothing lost, what matters first."""

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.contracts.answer import Finding, LensReport, NotAssessed, Severity
from leadhand.synthesis.findings import (
    UNSCORED,
    Quote,
    Rating,
    Review,
    conclude,
    fingerprint,
    fingerprints,
    gather,
)

Reports = list[tuple[str, LensReport]]


class Everywhere:
    """Quotes that are all real, but for those with the word `invented`."""

    def quoted(self, finding: Finding) -> Quote | None:
        if "invented" in finding.evidence:
            return None
        return Quote(side="added", lines=(finding.line,))


def seen(
    rule: str = "bugs/x",
    *,
    path: str = "a.py",
    line: int = 1,
    end_line: int | None = None,
    severity: Severity = "warning",
    message: str = "The name is wrong here.",
    evidence: str = "x = 1",
    confidence: int = 0,
) -> Finding:
    return Finding(
        path=path, line=line, end_line=line if end_line is None else end_line, severity=severity,
        category=rule.split("/", 1)[0], rule=rule, message=message, evidence=evidence,
        confidence=confidence,
    )  # fmt: skip


def of(lens: str, *items: Finding | NotAssessed) -> tuple[str, LensReport]:
    """What `lens` reports."""
    return lens, LensReport(
        findings=tuple(item for item in items if isinstance(item, Finding)),
        not_assessed=tuple(item for item in items if isinstance(item, NotAssessed)),
    )


def rated(**confidence: int) -> Callable[[str], Rating]:
    """90 for every rule but those whose name after the slash is given."""
    return lambda rule: Rating(confidence.get(rule.rsplit("/", 1)[-1], 90))


def review(
    *reports: tuple[str, LensReport],
    confidence: Callable[[str], Rating] | None = None,
    threshold: int = 80,
    removals: frozenset[str] = frozenset(),
    look: bool = True,
    baseline: frozenset[str] = frozenset(),
    equivalent: tuple[frozenset[str], ...] = (),
    weights: dict[str, int] | None = None,
) -> Review:
    gathered = gather(
        reports, quotes=Everywhere(), rating=confidence or rated(), threshold=threshold,
        baseline=baseline, equivalent=equivalent,
    )  # fmt: skip
    return conclude(
        gathered, quotes=Everywhere(), threshold=threshold, removals=removals, look=look,
        weights=weights,
    )  # fmt: skip


def places(findings: tuple[Finding, ...]) -> list[tuple[str, int]]:
    return [(finding.path, finding.line) for finding in findings]


def test_a_finding_whose_quote_is_not_in_the_change_is_dropped_and_counted() -> None:
    made = review(of("bugs", seen(), seen(line=9, evidence="invented()")))
    assert places(made.findings) == [("a.py", 1)]
    assert [(row.rule, row.path, row.line) for row in made.dropped] == [("bugs/x", "a.py", 9)]


def test_confidence_is_measured_and_never_taken_from_the_lens() -> None:
    made = review(of("bugs", seen(confidence=100)), confidence=rated(x=41))
    assert made.findings == ()
    assert [finding.confidence for finding in made.look] == [41]


def test_the_threshold_divides_and_is_itself_enough() -> None:
    made = review(
        of("bugs", seen("bugs/at"), seen("bugs/under", line=5)), confidence=rated(at=80, under=79)
    )
    assert [finding.rule for finding in made.findings] == ["bugs/at"]
    assert [finding.rule for finding in made.look] == ["bugs/under"]


def test_from_30_what_is_more_than_an_information_needs_a_look() -> None:
    reported = [
        seen("bugs/at", line=1, severity="critical"),
        seen("other/at", line=10, severity="warning"),
        seen("info/at", line=20, severity="info"),
        seen("bugs/under", line=30, severity="critical"),
    ]
    confidence = rated(at=30, under=29)
    made = review(of("bugs", *reported), confidence=confidence)
    assert [finding.rule for finding in made.look] == ["bugs/at", "other/at"]
    assert {one.rule for one in made.suppressed} == {"info/at", "bugs/under"}
    sure = review(of("bugs", *reported), confidence=rated())
    assert (len(sure.findings), sure.look) == (4, ())
    without = review(of("bugs", *reported), confidence=confidence, look=False)
    assert without.look == ()
    assert len(without.suppressed) == 4


def test_a_rule_that_few_labels_prove_has_no_critical_finding() -> None:
    made = review(
        of("bugs", seen("bugs/x", severity="critical")),
        confidence=lambda _: Rating(79, unproven=True),
    )
    assert [(one.severity, one.confidence) for one in made.look] == [("warning", 79)]


def test_the_same_protection_removed_in_many_places_is_one_finding() -> None:
    gone = [
        seen("removed/x", path=f"{n}.py", line=n, evidence=f"@guard({' ' * n}1)") for n in (3, 1, 2)
    ]
    other = seen("removed/x", path="9.py", evidence="@guard(2)")
    removals = frozenset({"removed/x"})
    made = review(of("security", *gone, other), removals=removals)
    first, second = sorted(made.findings, key=lambda one: one.path)
    assert [(one.path, one.line) for one in first.places] == [("2.py", 2), ("3.py", 3)]
    assert second.places == ()
    known = frozenset({first.id, second.id, *(one.id for one in first.places)})
    assert review(of("security", *gone, other), removals=removals, baseline=known).findings == ()
    rest = review(of("security", *gone, other), removals=removals, baseline=frozenset({first.id}))
    assert {one.path for one in rest.findings} == {"2.py", "9.py"}
    assert len(review(of("security", *gone, other)).findings) == 4


def test_two_lenses_with_the_same_quote_give_one_finding_that_names_both() -> None:
    made = review(
        of("bugs", seen("bugs/x", message="`run` is called without a timeout here")),
        of(
            "security",
            seen(
                "security/y",
                message="`run` is called here without a timeout",
                evidence="x  =  1",
                severity="critical",
            ),
        ),
        confidence=rated(x=95, y=85),
    )
    (only,) = made.findings
    assert (only.rule, only.severity, only.confidence) == ("bugs/x", "critical", 95)
    assert only.lenses == ("bugs", "security")


def test_different_problems_on_one_line_stay_apart() -> None:
    made = review(
        of("bugs", seen("bugs/x", message="The loop variable is captured late.")),
        of("security", seen("security/y", message="A password is written to the log.")),
        of("performance", seen("performance/z", message="The loop variable is captured late.",
                               evidence="y = 2")),
    )  # fmt: skip
    assert len(made.findings) == 3


def test_rules_that_mean_the_same_are_one_finding_whatever_their_words() -> None:
    same = frozenset({"bugs/x", "security/y"})
    reports = (
        of("bugs", seen("bugs/x", message="one", end_line=3)),
        of("security", seen("security/y", message="completely different", line=3)),
    )
    assert len(review(*reports, equivalent=(same,)).findings) == 1
    assert len(review(*reports).findings) == 2


def test_one_lens_may_say_two_things_of_overlapping_lines() -> None:
    made = review(of("bugs", seen(end_line=5), seen(line=3), seen(line=3)))
    assert places(made.findings) == [("a.py", 1), ("a.py", 3)]


def test_ids_stay_when_lines_shift_and_indentation_changes() -> None:
    (before,) = review(of("bugs", seen(line=3, evidence="  x = 1"))).findings
    (after,) = review(of("bugs", seen(line=90, end_line=91, evidence="x  =\t1"))).findings
    assert before.id == after.id
    assert len(before.id) == 16
    assert before.id != fingerprint("b.py", "bugs/x", "x = 1", 0)


def test_twins_in_one_file_have_ids_of_their_own_counted_down_the_file() -> None:
    rows = [seen(line=9), seen(line=2)]
    names = fingerprints(rows, same_rule=str)
    assert names == [fingerprint("a.py", "bugs/x", "x = 1", n) for n in (1, 0)]


def test_ids_hold_text_that_no_encoding_takes() -> None:
    """F07."""
    assert len(fingerprint("\ud800", "bugs/x", "\0\udfff", 0)) == 16


def test_a_baseline_hides_what_it_has_and_is_kept_for_the_next_one() -> None:
    first = review(of("bugs", seen(), seen(line=9)))
    known = frozenset({first.findings[0].id, "gone"})
    second = review(of("bugs", seen(), seen(line=9)), baseline=known)
    assert [finding.id for finding in second.findings] == [first.findings[1].id]
    assert second.hidden_by_baseline == (first.findings[0].id,)


def test_severity_then_confidence_then_lenses_then_weight_decide_the_order() -> None:
    shared = "The very same words about it."
    made = review(
        of("style", seen("style/light", line=10), seen("style/both", line=20, message=shared)),
        of("bugs", seen("bugs/heavy", line=30), seen("bugs/both", line=20, message=shared)),
        of("bugs", seen("bugs/sure", line=40), seen("bugs/worst", line=50, severity="critical")),
        of("bugs", seen("bugs/least", line=60, severity="info")),
        confidence=rated(sure=99, worst=81, least=100),
        weights={"bugs": 2},
    )
    assert [finding.line for finding in made.findings] == [50, 40, 20, 30, 10, 60]


def test_rules_take_turns_so_that_a_frequent_one_does_not_bury_the_others() -> None:
    often = [seen("bugs/often", line=line) for line in range(1, 30)]
    made = review(of("bugs", *often, seen("bugs/rare", path="z.py")))
    assert [finding.rule for finding in made.findings[:3]] == [
        "bugs/often", "bugs/rare", "bugs/often",
    ]  # fmt: skip


def test_a_reason_that_holds_for_many_files_is_said_once() -> None:
    def notes(number: int) -> list[NotAssessed]:
        return [NotAssessed(lens="bugs", path=f"{n:02}.py", why="too large") for n in range(number)]

    whole = NotAssessed(lens="history", why="no history")
    made = review(of("bugs", *notes(21), *notes(3), whole), of("history", whole))
    assert [(note.lens, note.path, note.why) for note in made.not_assessed] == [
        ("bugs", None, "too large (21 files)"),
        ("history", None, "no history"),
    ]
    assert len(review(of("bugs", *notes(20))).not_assessed) == 20


def test_where_quotes_stand_is_kept_for_every_finding_by_its_id() -> None:
    made = review(of("bugs", seen(line=7), seen("bugs/low", line=8)), confidence=rated(low=5))
    assert {made.quotes[one.id].lines for one in (*made.findings, *made.suppressed)} == {(7,), (8,)}
    assert Review.model_validate(made.model_dump(mode="json")) == made


FINDINGS = st.builds(
    seen,
    st.sampled_from(["bugs/x", "bugs/y", "security/x", "security/z"]),
    path=st.sampled_from(["a.py", "b.py"]),
    line=st.integers(1, 6),
    end_line=st.integers(1, 300),
    severity=st.sampled_from(["critical", "warning", "info"]),
    message=st.sampled_from(["The name is wrong.", "A name is wrong.", "Nothing to do with it."]),
    evidence=st.sampled_from(["x = 1", "x  = 1", "y = 2", "invented"]),
)


def reported(lens: str, findings: list[Finding]) -> tuple[str, LensReport]:
    return of(lens, *findings)


REPORTS = st.lists(
    st.builds(reported, st.sampled_from(["bugs", "security"]), st.lists(FINDINGS, max_size=6)),
    max_size=4,
)


@given(REPORTS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_in_which_tasks_end_never_matters(
    reports: Reports, chance: random.Random
) -> None:
    shuffled = list(reports)
    chance.shuffle(shuffled)
    confidence = rated(x=85, y=85, z=60)
    made = review(*reports, confidence=confidence)
    assert review(*shuffled, confidence=confidence) == made
    every = [*made.findings, *made.look, *made.suppressed]
    assert len({finding.id for finding in every}) == len(every)
    given_findings = [one for _, report in reports for one in report.findings]
    invented = [one for one in given_findings if one.evidence == "invented"]
    assert len(made.dropped) == len(invented)
    assert bool(every) == (len(given_findings) > len(invented))


@given(REPORTS)
@settings(max_examples=50)
def test_a_baseline_changes_only_what_it_hides(reports: Reports) -> None:
    made = review(*reports)
    again = review(*reports, baseline=frozenset(finding.id for finding in made.findings))
    assert again.findings == ()
    assert set(again.hidden_by_baseline) == {finding.id for finding in made.findings}


# What models found


SHELL = seen(
    "security/shell-injection", line=8, severity="warning", evidence="run(text, shell=True)",
    message="`text` goes unquoted into the shell command of `run`. Any command can be run.",
)  # fmt: skip


def by_model(
    rule: str = "security/model-shell-injection",
    *,
    line: int = 8,
    evidence: str = "run(text, shell=True)",
    message: str = "`text` goes into a shell command by `run`, so that any command can be run.",
) -> Finding:
    found = seen(rule, line=line, severity="critical", evidence=evidence, message=message)
    return found.model_copy(update={"source": "model", "confidence": 99})


def test_a_models_finding_has_no_confidence_until_it_is_scored() -> None:
    made = review(of("security-model", by_model()))
    assert [(one.confidence, one.why) for one in made.suppressed] == [(0, UNSCORED)]


def test_a_model_makes_an_analysers_finding_neither_surer_nor_more_severe() -> None:
    both = (of("security", SHELL), of("security-model", by_model()))
    for reports in (both, both[::-1]):
        (kept,) = review(*reports).findings
        assert (kept.rule, kept.source, kept.confidence) == (SHELL.rule, "analyser", 90)
        assert kept.severity == "warning"
        assert kept.lenses == ("security", "security-model")


def test_beside_an_analysers_doubt_a_models_finding_stands_by_itself() -> None:
    made = review(
        of("security", SHELL),
        of("security-model", by_model()),
        confidence=rated(**{"shell-injection": 79}),
    )
    assert [(one.source, one.confidence) for one in made.look] == [("analyser", 79)]
    assert [(one.source, one.confidence) for one in made.suppressed] == [("model", 0)]


def test_other_problems_of_the_same_line_are_not_taken_for_the_same() -> None:
    other = by_model("security/model-missing-timeout", message="Nothing ends a hanging command.")
    elsewhere = by_model(line=70)
    unlike = by_model(evidence="import os")
    made = review(of("security", SHELL), of("security-model", other, elsewhere, unlike))
    assert len(made.findings) == 1
    assert len(made.suppressed) == 3


def test_models_that_say_the_same_through_two_lenses_say_it_once() -> None:
    again = by_model(
        "bugs/model-shell-command", evidence="shell=True",
        message="`run` puts `text` into a shell command, so that any command can be run.",
    )  # fmt: skip
    (kept,) = review(of("security-model", by_model()), of("bugs-model", again)).suppressed
    assert set(kept.lenses) == {"security-model", "bugs-model"}


def test_the_id_of_a_models_finding_does_not_depend_on_its_words() -> None:
    (one,) = review(of("security-model", by_model())).suppressed
    other = by_model("security/model-rce", message="Somebody can run programs.")
    (again,) = review(of("security-model", other)).suppressed
    assert one.id == again.id
    (analysed,) = review(of("security", SHELL)).findings
    assert one.id != analysed.id
