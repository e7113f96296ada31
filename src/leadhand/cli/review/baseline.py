"""Reads an earlier report, so that a review can leave out what was known before.

Takes only the ids from it; everything else in the file is left alone.
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from leadhand.cli.views.terminal import safe
from leadhand.errors import InputError

MAX_BYTES = 64 << 20
_ADVICE = "hand over what `leadhand review --json` printed"


class _Known(BaseModel):
    """A finding of the earlier report."""

    model_config = ConfigDict(frozen=True)

    id: str


class _Output(BaseModel):
    """The review in it."""

    model_config = ConfigDict(frozen=True)

    findings: tuple[_Known, ...]
    suppressed: tuple[_Known, ...]
    hidden_by_baseline: tuple[str, ...] = ()


class _Document(BaseModel):
    """The answer document, as far as it matters here."""

    model_config = ConfigDict(frozen=True)

    output: _Output


def load_baseline(path: Path) -> frozenset[str]:
    """The ids of all findings in the answer document at `path`: shown, suppressed and hidden.

    Raises `InputError` where the file can't be read, is too large or is not such a document.
    """
    name = safe(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        # A name with a NUL in it is a ValueError, not an OSError.
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"can't read the baseline {name}: {why}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"the baseline {name} is larger than {MAX_BYTES >> 20} MiB: {_ADVICE}")
    try:
        output = _Document.model_validate_json(data).output
    except ValidationError as error:
        broken = any(problem["type"] == "json_invalid" for problem in error.errors())
        kind = "JSON" if broken else "a review report"
        raise InputError(f"the baseline {name} is not {kind}: {_ADVICE}") from error
    known = {finding.id for finding in (*output.findings, *output.suppressed)}
    return frozenset((known | set(output.hidden_by_baseline)) - {""})
