"""`leadhand teams advise`: what a team's definition and its stored runs say about each other."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from leadhand.advice.facts import RunFacts, facts
from leadhand.advice.judgement import NOT_JUDGED, Advice, judge
from leadhand.cli.home import shown_home
from leadhand.cli.runs.commands import StoredRuns
from leadhand.cli.views.consoles import DataConsole, print_line
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.summary import RunSummary
from leadhand.contracts.team import Team
from leadhand.journal.store import Store
from leadhand.models.prompts import prompts_of
from leadhand.teams.sources import team_of
from leadhand.tools.text import counted

MAX_RUNS = 200
"""The latest runs of a team that are read."""
MAX_INTENT_CHARS = 100


class TeamRuns(NamedTuple):
    """Stored runs of a team."""

    runs: Sequence[RunFacts]
    """Those that count, the oldest first."""
    left_out: Counter[str]
    """How many others there are, by the reason."""


def runs_of(store: Store | None, team: Team, *, limit: int = MAX_RUNS) -> TeamRuns:
    """The latest `limit` stored runs of a team. Reads their events, run by run."""
    runs: list[RunFacts] = []
    left_out = Counter[str]()
    prompts = prompts_of(team)

    def is_of_team(run: RunSummary) -> bool:
        return run.team == team.name or run.status == "damaged"

    listed = () if store is None else store.runs(limit=limit + 1, where=is_of_team)
    for summary in listed[:limit]:
        assert store is not None, "it has listed runs"
        stored = store.inspect(summary.run_id)
        damaged = summary.status == "damaged" or stored.damage or stored.unread
        found = "damaged, or not readable here" if damaged else ""
        found = found or facts(stored.events, prompts=prompts)
        if isinstance(found, str):
            left_out[found] += 1
        else:
            runs.append(found)
    if store is not None and len(listed) > limit:
        older = len(store.runs(where=is_of_team)) - limit
        left_out[f"older than the latest {limit}; --runs reads more"] += older
    return TeamRuns(runs[::-1], left_out)


def advise(kept: StoredRuns, name: str, *, limit: int, as_json: bool, trust: bool) -> None:
    """Print advice about a team. Raises `InputError` if there is no such team."""
    team = team_of(name, trust=trust)
    found = runs_of(kept.store, team, limit=limit)
    advice = judge(team, found.runs)
    if as_json:
        at = [run.started_at.isoformat() for run in found.runs]
        document = {
            "team": team.name,
            "runs": len(at),
            "first": min(at, default=None),
            "last": max(at, default=None),
            "left_out": dict(found.left_out),
            "advice": [_document(one) for one in advice],
            "not_judged": NOT_JUDGED,
        }
        print_json(document)
        return
    at = sorted({f"{run.started_at:%Y-%m-%d}" for run in found.runs})
    dates = f" ({' to '.join(dict.fromkeys((at[0], at[-1])))})" if at else ""
    header = f"team {safe(team.name)!r}: {counted(len(found.runs), 'run')}{dates} in "
    print_lines([header + safe(shown_home(kept.home)), *_lines(found, advice)])


def print_lines(lines: Sequence[str]) -> None:
    """Print lines without wrapping them, for programs that read lines."""
    console = DataConsole()
    for line in lines:
        print_line(console, line)


def _lines(found: TeamRuns, advice: Sequence[Advice]) -> Iterator[str]:
    yield from (f"  left out: {count:,} {why}" for why, count in found.left_out.items())
    if not advice:
        yield "nothing to advise from these runs" if found.runs else "no runs to judge by"
    for number, one in enumerate(advice, start=1):
        shown = [
            f"{sentence(example.task.intent)[:MAX_INTENT_CHARS]!r}" for example in one.examples
        ]
        example = f", such as {' and '.join(shown)}" if shown else ""
        yield f"{number}. {sentence(one.found)}{example}"
        yield f"   -> {sentence(one.do)}"
    yield f"not judged: {sentence('; '.join(NOT_JUDGED))}"


def _document(advice: Advice) -> dict[str, object]:
    examples = [
        {"run_id": run_id, "worker": task.worker, "intent": task.intent}
        for run_id, task, _ in advice.examples
    ]
    return {**advice._asdict(), "examples": examples}
