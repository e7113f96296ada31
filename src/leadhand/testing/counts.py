"""Counts the server's requests and responses, and keeps a limited number of bodies."""

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar

from leadhand.testing.exchange import Request, Role
from leadhand.testing.json_data import Json, Object

K = TypeVar("K")

MAX_BODY_CHARS = 1_000_000
"""A longer body is counted but not kept."""


@dataclasses.dataclass(slots=True)
class Stats:
    requests: int = 0
    """Calls of a model, without listings of models."""
    by_role: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    by_status: dict[int, int] = dataclasses.field(default_factory=dict[int, int])
    """Responses by HTTP status; 0 if the connection was reset instead."""
    prompt_tokens: int = 0
    """Characters of messages, tools and schemas, divided by four."""
    completion_tokens: int = 0
    max_concurrency: int = 0
    """The most requests in flight at once."""
    connections: int = 0
    misbehaved: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    bodies: Sequence[Object] = ()
    """The last requests as `role`, `protocol` and `body`, the oldest first."""

    @classmethod
    def from_json(cls, data: Json) -> "Stats":
        given: Any = data
        stats = cls(**given)
        stats.by_status = {int(status): count for status, count in given["by_status"].items()}
        return stats


class Counts:
    def __init__(self, *, keep_bodies: int) -> None:
        self._in_flight = 0
        self.clear(keep_bodies=keep_bodies)

    def clear(self, *, keep_bodies: int) -> None:
        """Count from zero; requests in flight stay in flight."""
        self.stats = Stats(max_concurrency=self._in_flight)
        self._bodies: deque[Object] = deque(maxlen=keep_bodies)

    def asked(self, request: Request, role: Role, body: Json, *, chars: int) -> None:
        self.stats.requests += 1
        _add(self.stats.by_role, role)
        self.stats.prompt_tokens += request.prompt_tokens
        if chars <= MAX_BODY_CHARS:
            self._bodies.append({"role": role, "protocol": request.protocol, "body": body})

    def misbehaved(self, name: str) -> None:
        _add(self.stats.misbehaved, name)

    def keep_bodies(self, most: int) -> None:
        if most != self._bodies.maxlen:
            self._bodies = deque(self._bodies, maxlen=most)

    def connected(self) -> None:
        self.stats.connections += 1

    def started(self) -> None:
        """Note that a whole request was received."""
        self._in_flight += 1
        self.stats.max_concurrency = max(self.stats.max_concurrency, self._in_flight)

    def ended(self, status: int) -> None:
        """A lost connection has the status 0."""
        self._in_flight -= 1
        _add(self.stats.by_status, status)

    def snapshot(self) -> Object:
        shown: Any = dataclasses.asdict(self.stats)
        shown["by_status"] = {str(status): n for status, n in self.stats.by_status.items()}
        return {**shown, "bodies": list(self._bodies)}


def _add(counts: dict[K, int], key: K) -> None:
    counts[key] = counts.get(key, 0) + 1
