"""What the workers' models may call, and useful alone."""

from leadhand_teams.support.escalator import missing_from
from leadhand_teams.support.library import signatures
from leadhand_teams.support.output import Kind
from leadhand_teams.support.runbooks import Symptoms, to_yaml


def known_error(text: str) -> str:
    """What a well-known error, exit code or HTTP status means, as a runbook in YAML."""
    found = Symptoms(text).best(signatures())
    return to_yaml([found]) if found is not None else "Not among the well-known errors."


def open_questions(text: str, kind: Kind) -> list[str]:
    """What an engineer will ask about a request and its text does not say."""
    return [*missing_from(text, kind)]
