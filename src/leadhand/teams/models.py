"""Checks what a team's files say about models for contradictions and keys without effect."""

from leadhand.teams.draft import Draft, WorkerDraft
from leadhand.teams.fields import TeamFields
from leadhand.teams.files import TeamFile
from leadhand.teams.notes import Notes, intended_name
from leadhand.teams.values import tier_of_alias

_IDLE = (
    *("tier", "model", "settings", "plain", "max_steps", "offline", "draft"),
    *("max_tool_calls", "max_output_mb"),
)
"""Keys of a worker that have no effect if a function always does its work."""

_IDLE_BESIDE_A_TEAM = (*_IDLE, "run", "tools", "output", "isolate")
"""Keys of a worker that have no effect if a team does its work."""


def check_team(draft: Draft, team: TeamFields, notes: Notes) -> None:
    """Note what team.yaml declares twice about its models."""
    document = draft.document
    if team.model is not None and isinstance(draft.written.values.get("models"), str):
        notes.warn(
            document.place("model"),
            "`models` names one model for every tier, and so does `model`: keep one of them",
        )
    for key in ("planner", "synthesizer", "judge", "critic", "router"):
        role = document.values.get(key)
        if isinstance(role, dict) and "tier" in role and "model" in role:
            _both(document, (key, "tier"), notes)
    if team.synthesizer.plain and not team.synthesizer.instructions.strip():
        notes.warn(
            document.place("synthesizer", "plain"),
            "the synthesizer is plain and has no `instructions`, which are its whole prompt: "
            "write them",
        )


def check_rates(draft: Draft, team: TeamFields, notes: Notes) -> None:
    """Note rates of unused models whose name is nearly that of a model in use."""
    roles = (team.planner, team.synthesizer, team.judge, team.critic, team.router)
    known = {team.model, *(name for names in team.models.by_tier.values() for name in names)}
    known |= {role.model for role in roles if role is not None}
    known |= {worker.fields.model for worker in draft.workers}
    for name in team.rates.keys() - known:
        guess = intended_name(name, [model for model in known if model is not None])
        if guess is not None:
            notes.warn(
                draft.document.place("rates", name),
                f"no model of this team is called {name!r}: did you mean {guess!r}?",
            )


def check_worker(worker: WorkerDraft, notes: Notes) -> None:
    """Note what a worker's front matter declares twice, or without effect, about its model."""
    fields, document = worker.fields, worker.document
    if fields.run is not None or fields.agent is not None or fields.team is not None:
        _idle(worker, notes)
        return
    if fields.draft is not None and (fields.offline is not None or fields.isolate != "none"):
        notes.problem(
            document.place("draft"),
            f"{worker.name!r} has a draft, which is its offline code too and runs in a thread: "
            "leave out `offline` and `isolate`",
        )
    tier = tier_of_alias(fields.model)
    if tier is not None and fields.tier is None:
        notes.warn(
            document.place("model"),
            f"{fields.model!r} is no `provider:model`: it is read as `tier: {tier}`, which works "
            "with any provider",
        )
    elif fields.model is not None and fields.tier is not None:
        _both(document, ("tier",), notes)
    if fields.plain and (fields.tools or fields.output is not None):
        notes.problem(
            document.place("plain"),
            f"{worker.name!r} is plain and so can have neither tools nor a declared output: remove "
            "them, or `plain`",
        )
    if fields.plain and fields.min_confidence is not None:
        notes.warn(
            document.place("min_confidence"),
            "a plain answer has no confidence: `min_confidence` has no effect",
        )
    if not document.body and not worker.has_function:
        notes.warn(
            document.place(),
            f"{worker.name!r} has no instructions: write them below the front matter",
        )


def _idle(worker: WorkerDraft, notes: Notes) -> None:
    fields = worker.fields
    doer = "team" if fields.team is not None else "agent" if fields.agent is not None else "run"
    for key in _IDLE_BESIDE_A_TEAM if doer == "team" else _IDLE:
        if doer == "agent" and key == "max_steps":
            continue  # its own library obeys it
        if key in worker.document.values:
            notes.warn(
                worker.document.place(key),
                f"`{doer}` always does the work of {worker.name!r}: `{key}` has no effect",
            )


def _both(document: TeamFile, path: tuple[str, ...], notes: Notes) -> None:
    notes.warn(
        document.place(*path), "`model` replaces the tier's models: `tier` has no effect beside it"
    )
