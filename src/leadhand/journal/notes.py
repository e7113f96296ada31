"""The keys of notes: bytes that a journal keeps beside the events of runs."""


def notes_of(run_id: str) -> str:
    """How the keys of notes begin that are deleted with a run."""
    return f"run/{run_id}/"


def prefixed(prefix: str) -> tuple[str, str]:
    """The bounds of keys with a prefix, where keys are sorted by their UTF-8."""
    return prefix, f"{prefix}\U0010ffff"
