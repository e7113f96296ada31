"""Reads the prompts, Markdown files beside the code that sends them, and tells versions apart."""

import functools
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.contracts.team import Team

PROMPTS = "f7b40b7516743927"
"""A digest of every text that leadhand itself sends to models. `tests/models/test_prompts.py`
fails when one of them changes and says what to write here."""


@functools.cache
def prompt(package: str, name: str) -> str:
    """The text of `prompts/<name>.md` in `package`, without blank lines around it."""
    return (files(package) / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def joined(*parts: str) -> str:
    """The non-empty parts, a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def prompts_of(team: "Team") -> str:
    """A digest of the prompts that a run of `team` uses: leadhand's and the team's own."""
    texts = [PROMPTS]
    for name, role in team.roles.items():
        texts += (name, role.instructions)
    for worker in team.workers:
        texts += (worker.name, worker.description, worker.instructions)
    if team.worker_factory is not None:
        texts += (f"{name}: {said}" for name, said in team.worker_factory.descriptions.items())
    return hashlib.blake2b("\0".join(texts).encode(errors="replace"), digest_size=8).hexdigest()
