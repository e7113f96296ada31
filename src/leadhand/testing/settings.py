"""The settings of a scripted server, which are checked when they are set."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from leadhand.errors import InputError
from leadhand.testing.json_data import Json, Object, mapping
from leadhand.testing.script import Script

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    script: Json = None
    """A list of rules, or `module:function`."""
    faults: Mapping[str, float] = field(default_factory=dict[str, float])
    """Probabilities of misbehaviours, together at most 1."""
    seed: int = 0
    latency_ms: float = 0.0
    """The delay of every answer, unless the request has a marker for it."""
    tokens_per_s: float = 0.0
    """How fast answers are written, after the delay; 0: at once."""
    model: str = "scripted"
    """The id of the only listed model; requests may name any model."""
    context_tokens: int = 0
    """As `/props` says; 0: any."""
    max_tokens: int = 0
    """The highest limit that a request may set for its answer; 0: any."""
    keep_bodies: int = 100
    """How many of the last requests' bodies are kept."""

    def changed(self, changes: Object) -> "ServerSettings":
        """Raises `InputError` for an invalid one."""
        made = self
        for name, value in changes.items():
            made = made._with(name, value)
        made.script_of()
        return made

    def _with(self, name: str, value: Json) -> "ServerSettings":
        match name, value:
            case "script", list() | str() | None:
                return replace(self, script=value)
            case "faults", dict() | None:
                return replace(self, faults=_shares(mapping(value)))
            case "seed", int():
                return replace(self, seed=value)
            case "latency_ms", int() | float() if value >= 0:
                return replace(self, latency_ms=float(value))
            case "tokens_per_s", int() | float() if value >= 0:
                return replace(self, tokens_per_s=float(value))
            case "model", str():
                return replace(self, model=value)
            case "context_tokens", int() if value >= 0:
                return replace(self, context_tokens=value)
            case "max_tokens", int() if value >= 0:
                return replace(self, max_tokens=value)
            case "keep_bodies", int() if value >= 0:
                return replace(self, keep_bodies=value)
            case _:
                known = ", ".join(self.__dataclass_fields__)
                raise InputError(f"a scripted server can't have {name}={value!r}; it has {known}")

    def refusal(self, prompt_tokens: int, max_tokens: int | None) -> str | None:
        """Why a request with these tokens is refused, as servers say it; None if it is not."""
        if self.max_tokens and (max_tokens or 0) > self.max_tokens:
            return (
                f"max_tokens is too large: {max_tokens}. This model supports at most "
                f"{self.max_tokens} completion tokens."
            )
        taken = prompt_tokens + (max_tokens or 0)
        if self.context_tokens and taken > self.context_tokens:
            return (
                f"This model's maximum context length is {self.context_tokens} tokens. However, "
                f"you requested {taken} tokens ({prompt_tokens} in the messages, "
                f"{max_tokens or 0} in the completion)."
            )
        return None

    def script_of(self) -> Script:
        return Script(self.script, self.faults, seed=self.seed)


def _shares(faults: Object) -> dict[str, float]:
    shares = {
        name: float(share) for name, share in faults.items() if isinstance(share, int | float)
    }
    total = sum(shares.values())
    if len(shares) < len(faults) or min(shares.values(), default=0) < 0 or total > 1 + 1e-9:
        raise InputError(f"faults are probabilities that come to at most 1 together: {faults!r}")
    return shares
