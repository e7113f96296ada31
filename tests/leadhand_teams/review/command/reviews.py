"""Handmade reviews for tests of the formats."""

from leadhand.contracts.answer import Answer, Finding, Gap, Metrics, NotAssessed, Severity, Status
from leadhand.synthesis.findings import Dropped, Quote, Review
from leadhand_teams.review.command.report import ReviewReport, Subject
from leadhand_teams.review.rules import LensRule

RULES = (
    LensRule(
        id="security/yaml-load",
        family="security/deserialization",
        severity="critical",
        why="A document can make it run any code.",
        fix="Use `yaml.safe_load`.",
    ),
    LensRule(
        id="bugs/late-closure",
        family="bugs/closures",
        severity="warning",
        why="Every function sees the last value of the loop.",
        fix="Bind it as a default.",
    ),
)


def finding(
    *,
    severity: Severity = "critical",
    path: str = "src/app.py",
    line: int = 8,
    end_line: int | None = None,
    rule: str = "security/yaml-load",
    message: str = "`yaml.load` reads `request.data`. A document can make it run any code.",
    suggestion: str = "Use `yaml.safe_load`.",
    evidence: str = "    return yaml.load(request.data)",
    confidence: int = 90,
    id: str = "0123456789abcdef",
    lenses: tuple[str, ...] = ("security",),
) -> Finding:
    """A finding as the synthesizer returns it, with the test's own values."""
    return Finding(
        id=id,
        path=path,
        line=line,
        end_line=line if end_line is None else end_line,
        severity=severity,
        category=rule.split("/", 1)[0],
        rule=rule,
        message=message,
        suggestion=suggestion,
        evidence=evidence,
        confidence=confidence,
        lenses=lenses,
    )


def many(number: int, severity: Severity = "warning") -> list[Finding]:
    return [
        finding(severity=severity, line=n, id=f"{severity}-{n}", message=f"Problem {severity} {n}.")
        for n in range(1, number + 1)
    ]


def report(
    *findings: Finding,
    look: tuple[Finding, ...] = (),
    suppressed: tuple[Finding, ...] = (),
    not_assessed: tuple[NotAssessed, ...] = (),
    dropped: tuple[Dropped, ...] = (),
    hidden_by_baseline: tuple[str, ...] = (),
    quotes: dict[str, Quote] | None = None,
    code: dict[str, str] | None = None,
    title: str = "Read settings from the request",
    status: Status = "complete",
    gaps: tuple[Gap, ...] = (),
    rules: tuple[LensRule, ...] = RULES,
) -> ReviewReport:
    """The report of a review with these findings, by default complete and quick."""
    review = Review(
        findings=findings,
        look=look,
        suppressed=suppressed,
        not_assessed=not_assessed,
        dropped=dropped,
        hidden_by_baseline=hidden_by_baseline,
        quotes=quotes or {},
        code=code or {},
    )
    return ReviewReport(
        review=review,
        answer=Answer(
            run_id="run",
            status=status,
            engine="deterministic",
            team="review",
            request="Review it",
            output=review.model_dump(mode="json"),
            gaps=gaps,
            metrics=Metrics(makespan_s=0.4, sequential_s=1.3, critical_path_s=0.3, speedup=3.25),
        ),
        subject=Subject(
            title=title, base="1f0c2ab77d00", head="9e4d01c3aa00", files=3, added=20, removed=4
        ),
        threshold=80,
        lenses=("bugs", "security"),
        rules=rules,
    )
