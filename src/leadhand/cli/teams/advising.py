"""`leadhand teams advise`: what a team's definition and its stored runs say about each other."""

from collections import Counter
from collections.abc import Sequence

from leadhand.advice.facts import RunFacts, facts
from leadhand.advice.judgement import NOT_JUDGED, judge
from leadhand.cli.home import shown_home
from leadhand.cli.runs.commands import StoredRuns
from leadhand.cli.views.consoles import DataConsole, print_line
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.team import Team
from leadhand.journal.store import Store
from leadhand.models.prompts import prompts_of
from leadhand.teams.sources import team_of
from leadhand.tools.text import counted

MAX_RUNS = 200
"""The latest runs of a team that are read."""


def runs_of(
    store: Store, team: Team, *, limit: int = MAX_RUNS
) -> tuple[Sequence[RunFacts], Counter[str]]:
    """The latest `limit` stored runs of a team that count, the oldest first.

    The second value is how many others there are, by the reason. Reads their events, run by run.
    """
    runs: list[RunFacts] = []
    left_out = Counter[str]()
    prompts = prompts_of(team)
    listed = store.runs(where=lambda run: run.team == team.name or run.status == "damaged")
    for summary in listed[:limit]:
        stored = store.inspect(summary.run_id)
        damaged = summary.status == "damaged" or stored.damage or stored.unread
        unread = "damaged, or not readable here"
        found = unread if damaged else facts(stored.events, prompts=prompts)
        if isinstance(found, str):
            left_out[found] += 1
        else:
            runs.insert(0, found)
    if len(listed) > limit:
        left_out[f"older than the latest {limit}; --runs reads more"] = len(listed) - limit
    return runs, left_out


def advise(kept: StoredRuns, name: str, *, limit: int, as_json: bool, trust: bool) -> None:
    """Print advice about a team. Raises `InputError` if there is no such team."""
    team = team_of(name, trust=trust)
    runs, left_out = runs_of(kept.store, team, limit=limit)
    advice = judge(team, runs)
    at = sorted(run.started_at for run in runs)
    document = {
        "team": team.name,
        "runs": len(runs),
        "first": at[0].isoformat() if at else None,
        "last": at[-1].isoformat() if at else None,
        "left_out": dict(left_out),
        "advice": [one._asdict() for one in advice],
        "not_judged": NOT_JUDGED,
    }
    days = dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (*at[:1], *at[-1:]))
    dates = f" ({' to '.join(days)})" if at else ""
    header = f"team {safe(team.name)!r}: {counted(len(runs), 'run')}{dates} in "
    lines = [header + safe(shown_home(kept.home))]
    lines += [f"  left out: {count:,} {why}" for why, count in left_out.items()]
    if not advice:
        lines += ["nothing to advise from these runs" if runs else "no runs to judge by"]
    for number, one in enumerate(advice, start=1):
        lines += [f"{number}. {sentence(one.found)}", f"   -> {sentence(one.do)}"]
    print_result(document, [*lines, f"not judged: {'; '.join(NOT_JUDGED)}"], as_json=as_json)


def print_result(document: object, lines: Sequence[str], *, as_json: bool) -> None:
    """Print a document, or lines without wrapping them, for programs that read lines."""
    if as_json:
        print_json(document)
        return
    console = DataConsole()
    for line in lines:
        print_line(console, line)
