"""What a team's files say of models, looked at for what contradicts itself or has no effect."""

from leadhand.teams.draft import Draft, WorkerDraft
from leadhand.teams.fields import TeamFields
from leadhand.teams.files import TeamFile
from leadhand.teams.notes import Notes, misspelt
from leadhand.teams.values import elsewhere

_IDLE = (
    *("tier", "model", "settings", "plain", "max_steps", "offline"),
    *("max_tool_calls", "max_output_mb"),
)
"""Keys of a worker that have no effect where a function always does its work."""

_IDLE_BESIDE_A_TEAM = (
    *("tier", "model", "settings", "plain", "max_steps", "offline", "run"),
    *("tools", "output", "isolate", "max_tool_calls", "max_output_mb"),
)
"""Keys of a worker that have no effect where a team does its work."""


def check_team(draft: Draft, team: TeamFields, notes: Notes) -> None:
    """Note what team.yaml says twice about its models."""
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
    """Note rates of models that nobody uses, and whose name is nearly that of one in use."""
    roles = (team.planner, team.synthesizer, team.judge, team.critic, team.router)
    known = {team.model, *(name for names in team.models.by_tier.values() for name in names)}
    known |= {role.model for role in roles if role is not None}
    known |= {worker.fields.model for worker in draft.workers}
    for name in team.rates.keys() - known:
        guess = misspelt(name, [one for one in known if one is not None])
        if guess is not None:
            notes.warn(
                draft.document.place("rates", name),
                f"no model of this team is called {name!r}: did you mean {guess!r}?",
            )


def check_worker(worker: WorkerDraft, notes: Notes) -> None:
    """Note what a worker's front matter says twice, or to no effect, about its model."""
    fields, document = worker.fields, worker.document
    if fields.run is not None or fields.team is not None:
        _idle(worker, notes)
        return
    tier = elsewhere(fields.model)
    if tier is not None and fields.tier is None:
        notes.warn(
            document.place("model"),
            f"{fields.model!r} is no `provider:model`: it is taken for `tier: {tier}`, which says "
            "the same of any provider",
        )
    elif fields.model is not None and fields.tier is not None:
        _both(document, ("tier",), notes)
    if fields.plain and (fields.tools or fields.output is not None):
        notes.problem(
            document.place("plain"),
            f"{worker.name!r} is plain and so can have neither tools nor a declared output: leave "
            "out one or the other",
        )
    if fields.plain and fields.min_confidence is not None:
        notes.warn(
            document.place("min_confidence"),
            "a plain answer does not say how sure it is: `min_confidence` has no effect",
        )
    if not document.body and not worker.has_function:
        notes.warn(
            document.place(),
            f"{worker.name!r} has no instructions: write below the front matter how it is to work",
        )


def _idle(worker: WorkerDraft, notes: Notes) -> None:
    """Note the keys that say how a model is used where none will be."""
    doer = "run" if worker.fields.team is None else "team"
    for key in _IDLE if doer == "run" else _IDLE_BESIDE_A_TEAM:
        if key in worker.document.values:
            notes.warn(
                worker.document.place(key),
                f"`{doer}` always does the work of {worker.name!r}: `{key}` has no effect",
            )


def _both(document: TeamFile, path: tuple[str, ...], notes: Notes) -> None:
    notes.warn(
        document.place(*path),
        "`model` comes in place of the tier's models: `tier` has no effect beside it",
    )
