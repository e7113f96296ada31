"""Checks of what a supervisor is given, before a run starts."""

import datetime as dt
import functools
import hashlib
import json
import logging
import os
import re
import secrets
from collections.abc import Collection, Mapping, Sequence
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, JsonValue, TypeAdapter

from leadhand.contracts.budget import Budget
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import Batch, EarlierRun, PlanRequest
from leadhand.contracts.team import Team
from leadhand.errors import InputError, RunExists, TeamError
from leadhand.models.choice import is_auto, resolve_auto
from leadhand.plans.nesting import with_inherited_models
from leadhand.plans.team_checks import synthesis_problems, team_problems, without_model

if TYPE_CHECKING:
    from leadhand.run.people import Ask
    from leadhand.state.fold import RunState
    from leadhand.tools.files.inputs import Inputs

Batches = Mapping[str, Sequence[Batch]]

_log = logging.getLogger("leadhand")

RUN_ID = re.compile(r"(?!last\Z)[\w:][\w.:-]{0,199}", re.ASCII)
"""A run's id: not an option of a command, and not `last`, the commands' word for the latest run."""

MAX_DEADLINE_S = 1e18
"""The clock of the event loop can't hold every number."""
MAX_SHOWN_CHARS = 200
"""How much of an invalid id an error repeats."""


def check_options(
    team: Team,
    deadline_s: float | None,
    concurrency: int,
    budget: Budget | None,
    max_concurrency: int | None = None,
    synthesizer: object = None,
) -> None:
    """Raises `InputError` for invalid options, and `TeamError` naming every problem of the team."""
    # Types are checked as well: errors deep inside a run would not name the option.
    if not isinstance(team, Team):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"team is {type(team).__name__}; it must be a leadhand.Team")
    problems = team_problems(team)
    # A team that contains itself has no tree to look at.
    if problems or (problems := tuple(synthesis_problems(team, own=synthesizer is not None))):
        raise TeamError(team.name, problems)
    if not isinstance(concurrency, int) or concurrency < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"concurrency is {concurrency!r}; it must be a whole number from 1")
    if max_concurrency is not None and (
        not isinstance(max_concurrency, int) or max_concurrency < 1  # pyright: ignore[reportUnnecessaryIsInstance]
    ):
        why = "it must be a whole number from 1, or None"
        raise InputError(f"max_concurrency is {max_concurrency!r}; {why}")
    check_limits(deadline_s, budget)


def check_limits(deadline_s: float | None, budget: Budget | None) -> None:
    """Raises `InputError` for a deadline or budget that no run can have."""
    if budget is not None and not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"budget is {type(budget).__name__}; it must be a leadhand.Budget")
    if deadline_s is None:
        return
    if not isinstance(deadline_s, int | float) or not 0 < deadline_s < MAX_DEADLINE_S:  # pyright: ignore[reportUnnecessaryIsInstance]
        why = f"it must be more than 0 and less than {MAX_DEADLINE_S:.0e}, or None"
        raise InputError(f"deadline_s is {_shown(deadline_s)}; {why}")


async def with_models(team: Team) -> Team:
    """The team with a model in place of `auto`. Raises `InputError`, `TeamError`."""
    if not is_auto(team):
        return team
    choice = await resolve_auto(team, os.environ)
    if without_model(choice.team):
        why = f'`model="auto"` found nothing ({choice.why})'
        raise TeamError(team.name, (why, *team_problems(choice.team)))
    # The provider's client looks here for the address of a server on this machine.
    os.environ.update(choice.environ)
    _log.info("team %s: %s", team.name, choice.why)
    return with_inherited_models(choice.team)


def occasions(approve: Collection[Occasion] | None, person: "Ask | None") -> tuple[Occasion, ...]:
    """When people are asked. Raises `InputError`."""
    if person is not None and not callable(person):  # pyright: ignore[reportUnnecessaryComparison]
        raise InputError(f"person is {type(person).__name__}; it must be an async function")
    if approve is None:
        return ("plan", "escalation") if person is not None else ()
    known: tuple[Occasion, ...] = ("plan", "escalation")
    listed = isinstance(approve, Collection) and not isinstance(approve, str)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not listed or not all(one in known for one in approve):
        raise InputError(f"approve is {approve!r}; it is a list of {' and '.join(known)}")
    return tuple(one for one in known if one in approve)


def check_listener(listener: object) -> None:
    """Raises `InputError` unless `listener` is None or a function that is not async."""
    if listener is None:
        return
    if not callable(listener):
        raise InputError(f"listener is {type(listener).__name__}; it must be a function")
    if iscoroutinefunction(listener) or iscoroutinefunction(type(listener).__call__):
        raise InputError(
            "listener is an async function, and events are reported without waiting: give a plain "
            "function (`queue.put_nowait` of an asyncio.Queue is one), or use "
            "`async for event in run.events()` of a run that was started"
        )


def check_storage(home: str | Path | None, journal: object) -> None:
    """Raises `InputError` unless `home` and `journal` are of the right types."""
    if home is not None and not isinstance(home, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"home is {type(home).__name__}; it must be a folder or a URL, as text")
    if journal is not None and not callable(getattr(journal, "last_seq", None)):
        raise InputError(
            f"journal is {type(journal).__name__}; it must be a leadhand.journal.Store"
        )


def new_run_id(now: dt.datetime) -> str:
    """An id that no other run has."""
    return f"run-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def check_run_id(run_id: str) -> None:
    """Raises `InputError` for an id that a new run can't have."""
    if not _is_run_id(run_id):
        raise InputError(
            f"run_id is {_shown(run_id)}; it may have up to 200 letters, digits and . _ : - "
            "but must not begin with . or -, and not be the word last"
        )


def origin_of(given: object) -> dict[str, JsonValue] | None:
    """The origin as JSON has it. Raises `InputError` for what JSON has not."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"origin is {type(given).__name__}; it must map names to JSON values")
    try:
        checked = _origin_type().validate_python({**given})
        text = json.dumps(checked, allow_nan=False, ensure_ascii=False)
    except (ValueError, RecursionError):
        raise InputError(
            "origin can't be stored as JSON: its names must be text, and its values text, finite "
            "numbers, true, false, null, or lists and dicts of these"
        ) from None
    # A lone surrogate could not be stored.
    return json.loads(text.encode("utf-8", "replace"))


@functools.cache
def _origin_type() -> TypeAdapter[dict[str, JsonValue]]:
    # Built on first use: most programs give no origin.
    return TypeAdapter(dict[str, JsonValue], config=ConfigDict(strict=True))


def check_same_run(state: "RunState", team: str, request: str, fingerprint: str) -> None:
    """Raises `RunExists` if a stored run was started with another request.

    Its origin has to be the same if `fingerprint` has one.
    """
    asked, _, origin = fingerprint.partition(".")
    stored, _, known = state.fingerprint.partition(".")
    same = asked == stored and origin in ("", known)
    if not state.fingerprint:  # an older release started it
        same = (state.team, state.request) == (team, request)
    if not same:
        why = (
            "it was started with another request or origin, or follows another: give another run_id"
        )
        raise RunExists(state.run_id, why)


def digest_of(known: object) -> str:
    """A digest of what JSON can hold; of anything else, of its `repr`."""
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def check_known_id(run_id: str) -> None:
    """Raises `InputError` for an id that no run can have."""
    if not _is_run_id(run_id):
        raise InputError(f"there is no run {_shown(run_id)}")


def _is_run_id(run_id: object) -> bool:
    return isinstance(run_id, str) and RUN_ID.fullmatch(run_id) is not None


def _shown(run_id: object) -> str:
    return f"{run_id!r:.{MAX_SHOWN_CHARS}}"


def input_paths(inputs: Sequence[str | Path]) -> list[Path]:
    """The inputs as paths. Whether they exist is checked when they are read."""
    if isinstance(inputs, str):
        raise InputError("inputs is a text; give a list of paths")
    return [Path(one) for one in inputs]


def inputs_of(paths: Sequence[Path]) -> "Inputs | None":
    """The inputs, with all files listed; `None` if there are none."""
    if not paths:
        return None
    # Imported here because most programs have no inputs.
    from leadhand.tools.files.inputs import Inputs

    return Inputs.of(paths)


def planner_request(
    text: str,
    given: "Inputs | None",
    inputs: Sequence[Path],
    batches: Batches | None,
    after: tuple[EarlierRun, ...] = (),
) -> PlanRequest:
    """The request as a planner gets it. Raises `InputError` if it is not a text."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"the request is {type(text).__name__}; it must be text")
    # A lone surrogate, from an argument that is not UTF-8, could not be stored as JSON.
    text = text.encode("utf-8", "replace").decode()
    if given is None:
        return PlanRequest(text, batches or {}, after=after)
    paths = tuple(str(path.absolute()) for path in inputs)
    all_batches = {"inputs": [Batch(paths)], **(batches or {})}
    return PlanRequest(text, all_batches, given.summary(), after)
