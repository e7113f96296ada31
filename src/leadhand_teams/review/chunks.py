"""Divides the change into parts for models, each small enough to be read with care by one task.

Deterministic: the same change gives the same parts. Files beyond the limits are named.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.task import Batch
from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.diff_rows import header, rows

CHUNK_CHARS = 30_000
"""The characters of diff of one task."""
MAX_CHUNKS = 40
"""The most parts of a change, which limits the cost of a review."""
_WHY_BEYOND = f"beyond the {MAX_CHUNKS * CHUNK_CHARS:,} characters of diff that models review"


@dataclass(frozen=True, slots=True)
class ChangePiece:
    """One file of the change, or a part of a large one."""

    ref: str
    """Its name among a task's artifacts; unique in the change."""
    path: str
    text: str
    """Its diff."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The parts of a change; each part has a few pieces for one task."""

    pieces: dict[str, ChangePiece] = field(default_factory=dict[str, ChangePiece])
    batches: tuple[Batch, ...] = ()
    beyond: tuple[str, ...] = ()
    """The paths of files that are not, or not completely, in a part."""

    def of(self, artifacts: Iterable[str]) -> list[ChangePiece]:
        """The pieces for a task's artifacts."""
        return [self.pieces[ref] for ref in artifacts if ref in self.pieces]

    def not_assessed(self) -> tuple[NotAssessed, ...]:
        """The files that models don't see completely."""
        return tuple(NotAssessed(lens="model", path=path, why=_WHY_BEYOND) for path in self.beyond)


def chunks(change: Change, *, max_chars: int = CHUNK_CHARS, most: int = MAX_CHUNKS) -> Chunks:
    """`change` in at most `most` parts of about `max_chars` characters of diff."""
    batches: list[list[ChangePiece]] = []
    beyond: list[str] = []
    room = 0
    for file in change.files:
        for piece in _pieces(file, max_chars):
            if len(piece.text) > room:
                if len(batches) == most:
                    beyond.append(file.path)
                    break
                batches.append([])
                room = max_chars
            batches[-1].append(piece)
            room -= len(piece.text)
    return Chunks(
        pieces={piece.ref: piece for batch in batches for piece in batch},
        batches=tuple(Batch(tuple(piece.ref for piece in batch)) for batch in batches),
        beyond=tuple(beyond),
    )


def _pieces(file: ChangedFile, max_chars: int) -> Iterator[ChangePiece]:
    parts = list(_parts(file, max_chars - 2 * len(header(file))))
    for number, part in enumerate(parts, 1):
        of = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
        text = "\n".join([f"{header(file)}{of}", *part])
        yield ChangePiece(f"{file.path}{of}", file.path, text)


def _parts(file: ChangedFile, max_chars: int) -> Iterator[Sequence[str]]:
    """The rows of a file, cut between rows."""
    part: list[str] = []
    held = 0
    for row in rows(file):
        if part and held + len(row.text) + 1 > max_chars:
            yield part
            part, held = [], 0
        part.append(row.text)
        held += len(row.text) + 1
    if part:
        yield part
