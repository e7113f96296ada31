"""The models of a command: chosen, checked, and shown before money is spent on them."""

import asyncio
import os
from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from leadhand.cli.views.consoles import print_line
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.models.choice import ModelChoice, choose, models_by_role, models_of
from leadhand.plans.team_checks import without_model


def choose_models(team: Team, *, model: str | None, no_model: bool) -> ModelChoice:
    """Raises `InputError` for a model that can't be asked."""
    choice = asyncio.run(choose(team, model=model, no_model=no_model, environ=os.environ))
    # The provider's client reads the address of a server on this machine from here.
    os.environ.update(choice.environ)
    lacking = without_model(choice.team)
    if lacking:
        who = f"worker {lacking[0]!r}" + (f" and {len(lacking) - 1} more" if lacking[1:] else "")
        raise InputError(
            f"{who} of team {choice.team.name!r} can't work without a model ({choice.why}): name "
            "one with --model PROVIDER:NAME or LEADHAND_MODEL, set a provider's key, or give the "
            "worker code with `offline`"
        )
    specs = models_of(choice.team)
    if specs:
        # Imported here because runs without models don't need it.
        from leadhand.models.connections import MissingKey
        from leadhand.models.names import check_names

        try:
            asyncio.run(check_names(specs))
        except MissingKey as error:
            without = "leave out --model, or give --no-model" if model else "or give --no-model"
            raise InputError(f"{error.what}, {without}") from None
    return choice


def print_models(choice: ModelChoice, console: Console) -> None:
    """One line if all use the same."""
    used = models_by_role(choice.team)
    print_line(console, sentence(f"models: {choice.why}" if used else choice.why))
    by_model = roles_by_model(used)
    if len(by_model) < 2:
        return
    width = max(map(len, by_model))
    for model, names in by_model.items():
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
        print_line(console, Text.assemble(f"  {model:<{width}}  ", (shown, "dim")))


def roles_by_model(used: Mapping[str, str]) -> dict[str, list[str]]:
    by_model: dict[str, list[str]] = {}
    for name, model in used.items():
        by_model.setdefault(safe(model), []).append(safe(name))
    return by_model
