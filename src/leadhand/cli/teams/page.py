"""A team formatted for people: its workers, its plan, its rules."""

import json
from collections.abc import Iterator, Sequence
from typing import cast, get_args

from rich.console import Group, RenderableType
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
    WorkerFactory,
    model_name,
)
from leadhand.contracts.tools import may_start_early
from leadhand.plans import graph
from leadhand.tools.text import counted

_SPOKEN: dict[Rung, str] = {"raise_tier": "raise the tier", "ask_person": "ask a person"}
"""Rungs whose names need more words."""


def team_page(team: Team, width: int) -> Group:
    """The whole page, for a terminal of `width` columns."""
    # Names get at most a third of the page, however long they are.
    name_width = min(width, MAX_WIDTH) // 3

    def rows(facts: Sequence[tuple[str, Sequence[Text]]]) -> Padding:
        table = Table.grid(padding=(0, 2))
        table.add_column(overflow="fold", max_width=name_width)
        table.add_column(overflow="fold")
        for name, lines in facts:
            table.add_row(Text(safe(name), "cyan"), Group(*lines))
        return _indented(table)

    parts: list[RenderableType] = [Text(safe(team.name), "bold")]
    if team.description:
        parts.append(Text(sentence(team.description)))
    if team.workers:
        title = Text(counted(len(team.workers), "worker"), "bold")
        parts += [Text(), title, rows([(one.name, _worker(one)) for one in team.workers])]
    if team.worker_factory is not None:
        title, tools, facts = _factory(team.worker_factory)
        parts += [Text(), title, rows(tools), _indented(facts)]
    plan, entries = _plan(team)
    parts += [Text(), plan, rows(entries) if isinstance(entries, list) else _indented(entries)]
    rules = [(name, [Text(sentence(line)) for line in lines]) for name, lines in _rules(team)]
    parts += [Text(), Text("rules", "bold"), rows(rules)]
    return Group(*parts)


def _indented(content: RenderableType) -> Padding:
    return Padding(content, (0, 0, 0, 2))


def _facts(facts: Sequence[str]) -> Text:
    return Text(sentence(" · ".join(facts)), "dim")


def _worker(worker: Worker) -> list[Text]:
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
    facts += [f"always by {name_of(worker.run)}"] if worker.run is not None else []
    facts += ["own process"] if worker.isolate == "process" else []
    facts += _limits(worker.limits)
    facts += [f"{worker.concurrency} at once"] if worker.concurrency is not None else []
    facts += [f"fallback: {worker.fallback}"] if worker.fallback is not None else []
    if worker.max_queue is not None:
        facts.append(f"which helps out over {counted(worker.max_queue, 'waiting task')}")
    facts += [f"one of the role {worker.role}"] if worker.role is not None else []
    return [Text(sentence(worker.description)), _facts(facts)]


def _factory(factory: WorkerFactory) -> tuple[Text, list[tuple[str, list[Text]]], Text]:
    """A title, the tools for made workers, and facts."""
    rows = [(name, [Text(sentence(what))]) for name, what in factory.descriptions.items()]
    most = counted(factory.max_workers, "worker")
    title = f"up to {most} made for a plan, {'with these tools' if rows else 'without tools'}"
    facts = [f"tiers: {', '.join(factory.tiers)}"]
    facts += [f"shared: {', '.join(factory.shared_tools)}"] if factory.shared_tools else []
    return Text(title, "bold"), rows, _facts(facts)


def _plan(team: Team) -> tuple[Text, list[tuple[str, list[Text]]] | str]:
    """A title, and the entries of the template, or how plans are made without one."""
    if not team.workers and not team.template:
        return Text("plan", "bold"), "each by its planner's model"
    if not team.template:
        rounds = counted(team.planner.max_rounds, "round")
        return Text("plan", "bold"), KINDS[team.planner.kind].plan_words.format(max_rounds=rounds)
    by_id = {entry.id: entry for entry in team.template}
    entries = [by_id[id] for id in graph.order(team.template)]
    title = f"plan of {counted(len(entries), 'entry')}"
    if len(entries) > 1 and not any(entry.depends_on for entry in entries):
        title += ", all at once"
    return Text(title, "bold"), [(entry.id, _entry(entry)) for entry in entries]


def _entry(entry: TaskTemplate) -> list[Text]:
    facts = [f"by {entry.worker}"] if entry.worker != entry.id else []
    facts += [f"for each: {entry.for_each}"] if entry.for_each is not None else []
    facts += [f"after {', '.join(entry.depends_on)}"] if entry.depends_on else []
    facts += ["even if one of them gives no result"] if entry.tolerates_missing else []
    facts += _limits(entry.limits)
    intent = Text(sentence(entry.intent))
    return [intent, _facts(facts)] if facts else [intent]


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
    facts += _settings(role)
    return [*facts, "own instructions"] if role.instructions else facts


def _model(worker: Worker) -> list[str]:
    if worker.model is not None:
        return [f"model {model_name(worker.model)}", *_settings(worker)]
    return [*([f"tier {worker.tier}"] if worker.tier is not None else []), *_settings(worker)]


def _settings(of: Role | Worker) -> list[str]:
    facts = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in of.settings.items()
    ]
    return [*facts, "plain"] if of.plain else facts


def _limits(limits: Limits) -> list[str]:
    facts = [f"{limits.timeout_s:g} s"] if limits.timeout_s is not None else []
    facts += [counted(limits.max_steps, "step")] if limits.max_steps is not None else []
    facts += [counted(limits.max_tokens, "token")] if limits.max_tokens is not None else []
    return [*facts, f"tier {limits.tier}"] if limits.tier is not None else facts


def _rate(name: str, rate: Rate) -> str:
    facts = [f"{counted(rate.rpm, 'request')} a minute"] if rate.rpm is not None else []
    facts += [f"{counted(rate.tpm, 'token')} a minute"] if rate.tpm is not None else []
    facts += [f"{rate.concurrency:,} at once"] if rate.concurrency is not None else []
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
