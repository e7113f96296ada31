"""Reports for programs and browsers: JUnit, which CI servers read, and one page of HTML. Pure."""

import html
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from leadhand.evals.figures import Figure
from leadhand.evals.report import EvalReport, TeamReport, TrialReport
from leadhand.trace.formatting import format_duration, format_price
from leadhand.untrusted.terminal import inert_html, safe, safe_block, sentence

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:left;"
    "border-bottom:1px solid #ddd;white-space:pre-line}"
)


def percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def amount(name: str, value: float) -> str:
    match name:
        case "seconds":
            return format_duration(value)
        case "cost_usd":
            return format_price(value)
        case "speedup":
            return f"{value:.1f}x"
        case "requests" | "tokens":
            return f"{value:,.1f}"
        case _:
            return percent(value)


def interval(name: str, found: Figure) -> str:
    """The 95 % interval of a figure; empty if it has none."""
    if found.low is None or found.high is None:
        return ""
    return f"{amount(name, found.low)} to {amount(name, found.high)}"


def failures(trial: TrialReport) -> Iterator[str]:
    """What was wrong with a trial, a line each, without controls of a terminal."""
    yield from map(sentence, _failures(trial))


def _failures(trial: TrialReport) -> Iterator[str]:
    if trial.error is not None:
        yield f"it could not be run: {trial.error}"
    for score in trial.scores:
        if score.failed:
            yield f"{score.name} {percent(score.value)}{f': {score.why}' if score.why else ''}"
    if trial.refused:
        yield f"not called, because they may change something: {', '.join(trial.refused)}"
    if (first := trial.first_error) is not None:
        of = f" ({first.worker})" if first.worker != first.task_id else ""
        where = f"task {first.task_id!r}{of}" if first.task_id else f"the {first.step}"
        step = f", {first.step}" if first.task_id and first.step != "task" else ""
        at = f" (event {first.seq} of {first.run_id})" if first.seq and first.run_id else ""
        yield f"first wrong: {where}{step}{at}: {first.why}"


def junit(report: EvalReport) -> str:
    """The report as JUnit XML: a suite for each team, a test case for each trial."""
    suites = "".join(line for team in report.teams for line in _suite(team))
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return inert_html(f"{head}\n<testsuites>\n{suites}</testsuites>\n")


def _suite(team: TeamReport) -> Iterator[str]:
    failed = sum(not one.passed for one in team.trials)
    name = quoteattr(safe(team.team))
    head = f'tests="{len(team.trials)}" failures="{failed}"'
    yield f"<testsuite name={name} {head}>\n"
    for trial in team.trials:
        case = quoteattr(safe(trial.title))
        yield f'<testcase classname={name} name={case} time="{trial.seconds:.3f}">'
        if lines := [] if trial.passed else [*failures(trial)]:
            text = escape("\n".join(lines))
            yield f"<failure message={quoteattr(lines[0])}>{text}</failure>"
        yield "</testcase>\n"
    yield "</testsuite>\n"


def page(report: EvalReport) -> str:
    """The report as one page of HTML."""
    parts = [f"<h1>Evaluation {html.escape(report.id)}</h1>"]
    parts += (line for team in report.teams for line in _team(team))
    head = f'<meta charset="utf-8"><title>{html.escape(report.id)}</title><style>{_STYLE}</style>'
    body = inert_html("".join(parts))
    return f"<!doctype html><html lang=en><head>{head}</head><body>{body}</body></html>\n"


def _team(team: TeamReport) -> Iterator[str]:
    yield f"<h2>{html.escape(safe(team.team))}</h2><p>{len(team.trials)} trials, {team.engine}</p>"
    figures = team.figures.items()
    rows = [(name, amount(name, one.mean), interval(name, one)) for name, one in figures]
    yield _table(("figure", "mean", "95 % interval"), rows)
    routes = [(to or "no worker", given or "no worker", str(n)) for to, given, n in team.confused]
    yield _table(("a request for", "went to", "times"), routes)
    trials = [
        ("✓" if one.passed else "✗", safe(one.title), one.status, "\n".join(failures(one)))
        for one in team.trials
    ]
    yield _table(("", "case", "status", "what was wrong"), trials)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = (
        "".join(f"<{kind}>{html.escape(safe_block(one))}" for one in line) for kind, line in lines
    )
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>" if rows else ""
