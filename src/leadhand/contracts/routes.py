"""Routes: what sends a request to a worker without a plan, by rules and by a classifier."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from leadhand.contracts.arguments import argument, check_fields
from leadhand.contracts.many import Many


@argument
@dataclasses.dataclass(frozen=True)
class Route:
    """A routing rule: requests that meet any of its conditions go to its worker.

    A route without conditions is the default: it matches every request.
    """

    worker: str
    _: dataclasses.KW_ONLY
    words: Many[str] = ()
    """The request contains one of these words or phrases, as whole words in any case."""
    pattern: str | None = None
    """The request matches this regular expression somewhere, in any case. No look-around, no
    back-references."""
    labels: Many[str] = ()
    """The request contains one of these labels, as `[label]` or `#label`."""
    secondary: str | None = None
    """The next worker, if the first hands the request back."""
    also: Many[str] = ()
    """Other workers that get the request too, beside the first; the synthesizer joins the results.
    """

    __post_init__ = check_fields

    @property
    def workers(self) -> tuple[str, ...]:
        """The workers that get the request at once, the first one first."""
        return tuple(dict.fromkeys((self.worker, *self.also)))

    @property
    def is_default(self) -> bool:
        """Whether it has no conditions and so matches every request."""
        return not (self.words or self.pattern or self.labels)


class Guess(NamedTuple):
    """What a classifier says about one text."""

    worker: str | None
    """The likeliest worker; None: none of those that it knows."""
    confidence: float
    """The probability that this worker is right, 0 to 1."""
    accepted: bool
    """False: it abstains, and the next step decides."""


@runtime_checkable
class Classifier(Protocol):
    """Chooses a worker for a text, without a model and without waiting."""

    @property
    def workers(self) -> Sequence[str]:
        """The names of the workers that it may choose."""
        ...

    def guess(self, text: str) -> Guess:
        """The likeliest worker for a text."""
        ...
