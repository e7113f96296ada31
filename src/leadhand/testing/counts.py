"""Counts the server's requests and responses, and keeps a limited number of bodies."""

from collections import Counter, deque
from dataclasses import dataclass

from leadhand.testing.exchange import Request, Role
from leadhand.testing.json_data import Json, Object, items, mapping

MAX_BODY_CHARS = 1_000_000
"""A longer body is counted but not kept."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts since the last reset."""

    requests: int
    """Calls of a model, without listings of models."""
    by_role: dict[str, int]
    by_status: dict[int, int]
    """Responses by HTTP status; 0 if the connection was reset instead."""
    prompt_tokens: int
    """Characters of messages, tools and schemas, divided by four."""
    completion_tokens: int
    max_concurrency: int
    """The most requests in flight at once."""
    connections: int
    misbehaved: dict[str, int]
    """Misbehaviours by name."""
    bodies: tuple[Object, ...]
    """The last requests as `role`, `protocol` and `body`, the oldest first."""

    @classmethod
    def from_json(cls, data: Json) -> "Stats":
        """The inverse of `Counts.snapshot`."""
        given = mapping(data)
        return cls(
            requests=_whole(given.get("requests")),
            by_role=_counts(given.get("by_role")),
            by_status={int(key): count for key, count in _counts(given.get("by_status")).items()},
            prompt_tokens=_whole(given.get("prompt_tokens")),
            completion_tokens=_whole(given.get("completion_tokens")),
            max_concurrency=_whole(given.get("max_concurrency")),
            connections=_whole(given.get("connections")),
            misbehaved=_counts(given.get("misbehaved")),
            bodies=tuple(mapping(body) for body in items(given.get("bodies"))),
        )


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _counts(value: Json) -> dict[str, int]:
    return {name: _whole(count) for name, count in mapping(value).items()}


class Counts:
    """The running counts of a server."""

    def __init__(self, *, keep_bodies: int) -> None:
        self._in_flight = 0
        self.clear(keep_bodies=keep_bodies)

    def clear(self, *, keep_bodies: int) -> None:
        """Count from zero; requests in flight stay in flight."""
        self._connections = 0
        self._requests = 0
        self._by_role: Counter[str] = Counter()
        self._by_status: Counter[int] = Counter()
        self._misbehaved: Counter[str] = Counter()
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._max_concurrency = self._in_flight
        self._bodies: deque[Object] = deque(maxlen=keep_bodies)

    def asked(self, request: Request, role: Role, body: Json, *, chars: int) -> None:
        """Count a call of the model."""
        self._requests += 1
        self._by_role[role] += 1
        self._prompt_tokens += request.prompt_tokens
        if chars <= MAX_BODY_CHARS:
            self._bodies.append({"role": role, "protocol": request.protocol, "body": body})

    def answered(self, completion_tokens: int) -> None:
        self._completion_tokens += completion_tokens

    def misbehaved(self, name: str) -> None:
        self._misbehaved[name] += 1

    def keep_bodies(self, most: int) -> None:
        """Keep the bodies of the last `most` requests from now on."""
        if most != self._bodies.maxlen:
            self._bodies = deque(self._bodies, maxlen=most)

    def connected(self) -> None:
        self._connections += 1

    def started(self) -> None:
        """Note that a whole request was received."""
        self._in_flight += 1
        self._max_concurrency = max(self._max_concurrency, self._in_flight)

    def ended(self, status: int) -> None:
        """Note that a response was sent, or the connection was lost (status 0)."""
        self._in_flight -= 1
        self._by_status[status] += 1

    def snapshot(self) -> Object:
        """The counts as JSON, for `Stats.from_json`."""
        return {
            "requests": self._requests,
            "by_role": dict(self._by_role),
            "by_status": {str(status): count for status, count in self._by_status.items()},
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": self._completion_tokens,
            "max_concurrency": self._max_concurrency,
            "connections": self._connections,
            "misbehaved": dict(self._misbehaved),
            "bodies": list(self._bodies),
        }
