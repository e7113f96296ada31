"""The runs of every kind that are kept of a commit, in `tests/journal/old`: stored events.

    python -m tests.run.kinds.stored > tests/journal/old/COMMIT.jsonl

writes those of the commit that it is run with, a run a line. Files never change.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from leadhand.contracts.events import Event
from leadhand.journal.codec import decode, encode
from tests.run.kinds.kinds import KINDS, Kind, ask, endpoint, team, works
from tests.run.resuming.story import Stops

State = Literal["finished", "interrupted", "waiting"]
FOLDER = Path(__file__).parents[2] / "journal" / "old"


@dataclass(frozen=True)
class StoredRun:
    """A run that an earlier commit stored."""

    commit: str
    kind: Kind
    state: State
    bodies: tuple[str, ...]
    """Its events, as the journal had them."""

    @property
    def run_id(self) -> str:
        """Its id: different from every other's, so that all fit into one journal."""
        return f"{self.kind.name}-{self.state}".replace(" ", "-")

    def events(self) -> list[Event]:
        """Its events, as they are read now."""
        return [decode(self.run_id, seq, body) for seq, body in enumerate(self.bodies, start=1)]

    def __str__(self) -> str:
        return f"{self.commit} {self.kind} {self.state}"


def stored_runs() -> list[StoredRun]:
    """All that are kept."""
    kinds: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
    return [
        StoredRun(file.stem, kinds[line["kind"]], line["state"], tuple(line["bodies"]))
        for file in sorted(FOLDER.glob("*.jsonl"))
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines())
    ]


def _logs(kind: Kind) -> Mapping[State, list[Event]]:
    """What the journal has of a run that ended, was killed half way, and waits for approval."""
    kind = replace(kind, follows=False)  # what it follows is a run of its own
    journal = Stops()
    of = team(kind, endpoint(kind).model)
    _, whole = ask(kind, of, journal=journal)
    half = journal.commits[len(journal.commits) // 2]
    of = team(kind, endpoint(kind).model, run=works)
    _, waits = ask(kind, of, approve=["plan"])
    return {"finished": [*whole], "interrupted": [*whole[:half]], "waiting": [*waits]}


def main() -> None:
    """Write the runs of this commit."""
    for kind in KINDS:
        for state, events in _logs(kind).items():
            line = {"kind": kind.name, "state": state, "bodies": encode(events)}
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
