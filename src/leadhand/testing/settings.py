"""How a scripted server behaves until it is told otherwise; checked when given, not when used."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from leadhand.errors import InputError
from leadhand.testing.json_data import Json, Object, mapping
from leadhand.testing.script import Script

HOST = "127.0.0.1"
"""Where the server listens, and nowhere else."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server."""

    script: Json = None
    """A list of rules, or `module:function`."""
    faults: Mapping[str, float] = field(default_factory=dict[str, float])
    """Misbehaviours and how probable each is; together at most 1."""
    seed: int = 0
    latency_ms: float = 0.0
    """How long every answer takes, where the request has no marker of its own."""
    model: str = "scripted"
    """The id of the one model that is listed; requests may name any."""
    keep_bodies: int = 100
    """How many of the last requests' bodies the counts hold."""

    def changed(self, changes: Object) -> "Settings":
        """These settings with the changes; raises InputError naming what can't be."""
        made = self
        for name, value in changes.items():
            made = made._with(name, value)
        made.script_of()
        return made

    def _with(self, name: str, value: Json) -> "Settings":
        match name, value:
            case "script", list() | str() | None:
                return replace(self, script=value)
            case "faults", dict() | None:
                return replace(self, faults=_shares(mapping(value)))
            case "seed", int():
                return replace(self, seed=value)
            case "latency_ms", int() | float() if value >= 0:
                return replace(self, latency_ms=float(value))
            case "model", str():
                return replace(self, model=value)
            case "keep_bodies", int() if value >= 0:
                return replace(self, keep_bodies=value)
            case _:
                known = ", ".join(self.__dataclass_fields__)
                raise InputError(f"a scripted server can't have {name}={value!r}; it has {known}")

    def script_of(self) -> Script:
        """The script that these settings ask for, at its beginning."""
        return Script(self.script, self.faults, seed=self.seed)


def _shares(faults: Object) -> dict[str, float]:
    shares = {
        name: float(share) for name, share in faults.items() if isinstance(share, int | float)
    }
    total = sum(shares.values())
    if len(shares) < len(faults) or min(shares.values(), default=0) < 0 or total > 1 + 1e-9:
        raise InputError(f"faults are probabilities that come to at most 1 together: {faults!r}")
    return shares
