"""A team formatted for people: its workers, its plan, its rules."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast, get_args

from pydantic import JsonValue
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from leadhand.cli.teams.document import name_of, schema_line
from leadhand.cli.views.consoles import MAX_WIDTH
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.budget import Rate
from leadhand.contracts.outcome import EscalationReason
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.task import Limits
from leadhand.contracts.team import (
    MAX_DEPTH,
    Ladder,
    RetryRules,
    Role,
    Rung,
    TaskTemplate,
    Team,
    Worker,
    model_name,
)
from leadhand.contracts.tools import may_start_early
from leadhand.plans import graph
from leadhand.tools.text import counted

_SPOKEN: dict[Rung, str] = {"raise_tier": "raise the tier", "ask_person": "ask a person"}
"""Rungs whose names need more words."""


class TeamPage:
    """Formats a team for people."""

    def __init__(self, team: Team, console: Console) -> None:
        self._team = team
        self._console = console

    def group(self) -> Group:
        """The whole page."""
        team = self._team
        parts: list[RenderableType] = [self._text(safe(team.name), "bold")]
        if team.description:
            parts.append(self._text(sentence(team.description)))
        workers = [(worker.name, self._worker(worker)) for worker in team.workers]
        if workers:
            title = self._text(counted(len(workers), "worker"), "bold")
            parts += [Text(), title, self._rows(workers)]
        parts += self._factory()
        parts += [Text(), *self._plan(), Text(), self._text("rules", "bold")]
        rules = _rules(team)
        parts.append(
            self._rows(
                [(name, [self._text(sentence(one)) for one in said]) for name, said in rules]
            )
        )
        return Group(*parts)

    def _text(self, content: str, style: str = "") -> Text:
        return Text(content, style)

    def _indented(self, content: str, style: str = "") -> Padding:
        return Padding(self._text(content, style), (0, 0, 0, 2))

    def _rows(self, rows: Sequence[tuple[str, list[Text]]]) -> Padding:
        table = Table.grid(padding=(0, 2))
        # Names get at most a third of the page, however long they are.
        table.add_column(overflow="fold", max_width=min(self._console.width, MAX_WIDTH) // 3)
        table.add_column(overflow="fold")
        for name, lines in rows:
            table.add_row(self._text(safe(name), "cyan"), Group(*lines))
        return Padding(table, (0, 0, 0, 2))

    def _worker(self, worker: Worker) -> list[Text]:
        tools = ", ".join(name_of(tool) for tool in worker.tools)
        facts = [f"tools: {tools}" if tools else "no tools", *_model(worker)]
        if worker.team is not None:
            names = ", ".join(inner.name for inner in worker.team.workers)
            facts = [f"a team of {counted(len(worker.team.workers), 'worker')}: {names}"]
        if worker.input is not None:
            facts.append(f"input: {schema_line(worker.input)}")
        if worker.output is not None:
            facts.append(f"output: {schema_line(worker.output)}")
        if worker.min_confidence is not None:
            facts.append(f"confidence of {worker.min_confidence} or more")
        if worker.run is not None:
            facts.append(f"always by {name_of(worker.run)}")
        if worker.isolate == "process":
            facts.append("own process")
        facts += _limits(worker.limits)
        if worker.concurrency is not None:
            facts.append(f"{worker.concurrency} at once")
        if worker.fallback is not None:
            facts.append(f"fallback: {worker.fallback}")
        if worker.max_queue is not None:
            facts.append(f"which helps out over {counted(worker.max_queue, 'waiting task')}")
        if worker.role is not None:
            facts.append(f"one of the role {worker.role}")
        said = self._text(sentence(worker.description))
        return [said, self._text(sentence(" · ".join(facts)), "dim")]

    def _factory(self) -> list[RenderableType]:
        factory = self._team.worker_factory
        if factory is None:
            return []
        rows = [(name, [self._text(sentence(x))]) for name, x in factory.descriptions.items()]
        most = counted(factory.max_workers, "worker")
        title = f"up to {most} made for a plan, {'with these tools' if rows else 'without tools'}"
        facts = [f"tiers: {', '.join(factory.tiers)}"]
        facts += [f"shared: {', '.join(factory.shared_tools)}"] if factory.shared_tools else []
        said = self._indented(sentence(" · ".join(facts)), "dim")
        return [Text(), self._text(title, "bold"), self._rows(rows), said]

    def _plan(self) -> list[RenderableType]:
        team = self._team
        if not team.workers and not team.template:
            return [self._text("plan", "bold"), self._indented("each by its planner's model")]
        if not team.template:
            rounds = counted(team.planner.max_rounds, "round")
            told = KINDS[team.planner.kind].plan_words.format(max_rounds=rounds)
            return [self._text("plan", "bold"), self._indented(told)]
        by_id = {entry.id: entry for entry in team.template}
        entries = [by_id[id] for id in graph.order(team.template)]
        title = f"plan of {counted(len(entries), 'entry')}"
        if not any(entry.depends_on for entry in entries):
            title += ", all at once" if len(entries) > 1 else ""
        rows = [(entry.id, self._entry(entry)) for entry in entries]
        return [self._text(title, "bold"), self._rows(rows)]

    def _entry(self, entry: TaskTemplate) -> list[Text]:
        facts: list[str] = []
        if entry.worker != entry.id:
            facts.append(f"by {entry.worker}")
        if entry.for_each is not None:
            facts.append(f"for each: {entry.for_each}")
        if entry.depends_on:
            facts.append(f"after {', '.join(entry.depends_on)}")
        if entry.tolerates_missing:
            facts.append("even if one of them gives no result")
        facts += _limits(entry.limits)
        lines = [self._text(sentence(entry.intent))]
        return [*lines, self._text(sentence(" · ".join(facts)), "dim")] if facts else lines


def _rules(team: Team) -> list[tuple[str, list[str]]]:
    """The rules of a team by name, each a line or a few."""
    own = " · ".join(_limits(team.limits))
    rows = [*_models(team), *_routes(team)]
    rows += [("rates", [_rate(name, rate) for name, rate in team.rates.items()])]
    if team.early_start:
        early = [worker.name for worker in team.workers if may_start_early(worker, team)]
        rows.append(("early start", [f"tasks for {', '.join(early) or 'no worker'}"]))
    if team.max_depth != MAX_DEPTH or any(worker.team is not None for worker in team.workers):
        rows.append(("nesting", [f"at most {counted(team.max_depth, 'level')} of teams"]))
    rows += [
        ("limits", [f"{own} a task" if own else "none but the run's own"]),
        ("ladder", list(_ladder(team.retry, team.ladder))),
        ("synthesis", [team.synthesis]),
        ("output", [schema_line(team.output)] if team.output is not None else []),
        ("contact", [team.contact] if team.contact else []),
    ]
    return [(name, lines) for name, lines in rows if lines]


def _routes(team: Team) -> list[tuple[str, list[str]]]:
    """The routing rules: which worker gets a request."""
    rows: list[tuple[str, list[str]]] = []
    for route in team.routes:
        when = [*route.words, *(f"#{label}" for label in route.labels)]
        when += [f"/{route.pattern}/"] if route.pattern else []
        said = f"{', '.join(when) or 'anything else'} to {' and '.join(route.workers)}"
        said += f", then {route.secondary}" if route.secondary else ""
        rows.append(("route", [said]))
    if team.trained_router is not None:
        known = counted(len(team.trained_router.workers), "worker")
        rows.append(("trained router", [f"tells {known} apart"]))
    return rows


def _models(team: Team) -> list[tuple[str, list[str]]]:
    """The models of the team and of its roles, if it names any."""
    rows: list[tuple[str, list[str]]] = []
    names = {
        tier: ", then ".join(model_name(spec) for spec in specs)
        for tier, specs in team.tiers.items()
    }
    if len(set(names.values())) == 1:
        rows.append(("models", [f"{names['standard']} for every tier"]))
    elif names:
        rows.append(("models", [" · ".join(f"{t}: {name}" for t, name in names.items())]))
    usual = ("planner", "synthesizer", "judge")
    for name, role in team.roles.items():
        if role != Role() or name not in usual:
            rows.append((name, [" · ".join(_role(role))]))
    return rows


def _role(role: Role) -> list[str]:
    facts = [role.kind] if role.kind is not None else []
    facts += [f"model {model_name(role.model)}" if role.model is not None else f"tier {role.tier}"]
    facts += _settings(role.settings)
    if role.plain:
        facts.append("plain")
    if role.instructions:
        facts.append("own instructions")
    return facts


def _model(worker: Worker) -> list[str]:
    facts: list[str] = []
    if worker.model is not None:
        facts.append(f"model {model_name(worker.model)}")
    elif worker.tier is not None:
        facts.append(f"tier {worker.tier}")
    facts += _settings(worker.settings)
    if worker.plain:
        facts.append("plain")
    return facts


def _settings(settings: Mapping[str, JsonValue]) -> list[str]:
    return [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]


def _limits(limits: Limits) -> list[str]:
    facts: list[str] = []
    if limits.timeout_s is not None:
        facts.append(f"{limits.timeout_s:g} s")
    if limits.max_steps is not None:
        facts.append(counted(limits.max_steps, "step"))
    if limits.max_tokens is not None:
        facts.append(counted(limits.max_tokens, "token"))
    if limits.tier is not None:
        facts.append(f"tier {limits.tier}")
    return facts


def _rate(name: str, rate: Rate) -> str:
    facts: list[str] = []
    if rate.rpm is not None:
        facts.append(f"{counted(rate.rpm, 'request')} a minute")
    if rate.tpm is not None:
        facts.append(f"{counted(rate.tpm, 'token')} a minute")
    if rate.concurrency is not None:
        facts.append(f"{rate.concurrency:,} at once")
    return f"{name}: {' · '.join(facts) or 'no limit'}"


def _ladder(retry: RetryRules, ladder: Ladder) -> Iterator[str]:
    """The attempts of a task, the rungs after each outcome, and the breaker."""
    yield _attempts(retry)
    for outcome in ("failed", *get_args(EscalationReason)):
        rungs = cast("tuple[Rung, ...]", getattr(ladder, outcome))
        # After a single attempt nothing is tried; its result can still be accepted.
        kept: list[Rung] = [rung for rung in rungs if retry.max_attempts > 1 or rung == "accept"]
        if kept:
            names = ", ".join(_SPOKEN.get(rung, rung.replace("_", " ")) for rung in kept)
            yield f"{outcome.replace('_', ' ')}: {names}, give up"
    yield (
        f"breaker of a worker: open for {ladder.breaker_pause_s:g} s after "
        f"{counted(ladder.breaker_failures, 'failure')} in a row"
    )


def _attempts(retry: RetryRules) -> str:
    if retry.max_attempts == 1:
        return "1 attempt"
    if not retry.backoff_s:
        return f"{retry.max_attempts} attempts"
    last = len(retry.backoff_s) - 1
    waits = [f"{retry.backoff_s[min(n, last)]:g} s" for n in range(retry.max_attempts - 1)]
    shown = ", ".join(waits[:4]) + (", ..." if len(waits) > 4 else "")
    return f"{retry.max_attempts} attempts, with {shown} between them"
