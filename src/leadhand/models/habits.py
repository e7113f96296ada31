"""What is known of a model at its endpoint: the way in which it answers in a structure, its limits.

It is found out by asking, shared by all runs of the process, and kept for a week in the home, so
that the next process need not find it out again.
"""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args
from urllib.parse import urlsplit

from pydantic_ai.models import Model

from leadhand.contracts.role import Answers
from leadhand.errors import InputError
from leadhand.models.listing import LOOPBACK

VARIABLE = "LEADHAND_ANSWERS"
"""The environment variable with the way in which every model answers in a structure."""
FILE = "models.json"
KEPT_S = 7 * 86_400
WAYS: tuple[Answers, ...] = get_args(Answers)
_MAX_UNFIT = 2
"""A way that worked before is left after so many answers in a row that can't be read."""
_TAKE_BOTH = (".openai.com", ".anthropic.com", ".googleapis.com", ".azure.com")
"""Hosts whose models may call tools although their answer has a format."""


@dataclass(slots=True)
class Habits:
    """What is known of one model at one endpoint."""

    ways: tuple[Answers, ...] = ("tool",)
    """Those that may work, the model's own first."""
    way: Answers = "tool"
    """The way in which it is asked next, unless the team says which."""
    works: bool = False
    """Whether an answer in that way could be read."""
    ended: dict[Answers, int] = field(default_factory=dict["Answers", int])
    """By way, the characters of the largest schema whose answer came to its end."""
    endless: bool = False
    """Whether it wrote without end before."""
    max_tokens: int | None = None
    """The most that it may write, as its endpoint said; 0: it takes no limit at all."""
    calls_in_format: bool = False
    """Whether it can call tools although its answer has a format."""
    limits_texts: bool = False
    """Whether its server takes a limit for texts in a schema: those on this machine do."""
    context_tokens: int | None = None
    """What its server gives to one request; None if that is not known."""
    asked_server: bool = False
    """Whether its server was asked for that."""
    unfit: int = 0
    folder: Path | None = None
    place: str = ""

    def ends(self, way: Answers, size: int) -> bool:
        """Whether an answer in `way` to a schema of `size` is known to end."""
        return self.ended.get(way, 0) >= size

    def succeeded(self, way: Answers, size: int) -> None:
        """An answer in `way` to a schema of `size` characters could be read."""
        self.unfit = 0
        if not (self.works and self.way == way and self.ends(way, size)):
            self.way, self.works = way, True
            self.has_ended(way, size)

    def has_ended(self, way: Answers, size: int) -> None:
        """An answer in `way` came to its end; a way that is set is not remembered."""
        self.ended[way] = max(size, self.ended.get(way, 0))
        self.keep()

    def failed(self, way: Answers, size: int) -> Answers | None:
        """The way to try after one that failed; None if it is to be repaired in the same one."""
        if self.way != way:
            return self.way  # another call found it out meanwhile
        self.unfit += 1
        after = self.ways[self.ways.index(way) + 1 :] if way in self.ways else ()
        proven = self.works and self.ends(way, size)
        if not after or (proven and self.unfit < _MAX_UNFIT):
            return None
        self.way, self.works, self.unfit = after[0], False, 0
        return self.way

    def wrote_without_end(self) -> None:
        """Its next answers are streamed, so that they can be cut off."""
        if not self.endless:
            self.endless = True
            self.keep()

    def keep(self) -> None:
        """Store it, unless the home can't be written."""
        if self.folder is None or not self.place:
            return
        kept = {**_stored(self.folder), self.place: self._fields()}
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = self.folder / f"{FILE}.{os.getpid()}"
            new.write_text(json.dumps(kept, indent=1), encoding="utf-8")
            new.replace(self.folder / FILE)

    def _fields(self) -> dict[str, object]:
        known = {"way": self.way if self.works else None, "ended": self.ended}
        more = {"endless": self.endless, "max_tokens": self.max_tokens}
        return {**known, **more, "at": time.time()}


_known: dict[tuple[Path | None, str], Habits] = {}


def habits_of(model: Model, folder: Path | None = None) -> Habits:
    """Those of a model, shared by all connections of this process to the same endpoint."""
    url = model.base_url
    key = (folder, f"{_without_secrets(url)} {model.model_name}") if url else None
    if key is None:
        return _new(model)
    if key not in _known:
        _known[key] = _new(model)
        _known[key].folder, _known[key].place = key
        _recall(_known[key])
    return _known[key]


def forget() -> None:
    """Forget what this process found out."""
    _known.clear()


def _new(model: Model) -> Habits:
    profile = model.profile
    own: Answers = profile.get("default_structured_output_mode", "tool")
    able: Mapping[Answers, bool] = {
        "tool": profile.get("supports_tools", True),
        "native": profile.get("supports_json_schema_output", False),
        "prompted": profile.get("supports_text_output", True),
    }
    others: list[Answers] = [way for way in WAYS if way != own and able[way]]
    host = urlsplit(model.base_url or "").hostname or ""
    return Habits(
        (own, *others),
        own,
        calls_in_format=host.endswith(_TAKE_BOTH),
        limits_texts=host in LOOPBACK,
    )


def _recall(habits: Habits) -> None:
    known = _stored(habits.folder).get(habits.place)
    if known is None:
        return
    most = known.get("max_tokens")
    for way in habits.ways:
        if known.get("way") == way:
            habits.way, habits.works = way, True
    sizes = known.get("ended")
    for way, size in cast(
        "dict[Answers, object]", sizes if isinstance(sizes, dict) else {}
    ).items():
        if type(size) is int:
            habits.ended[way] = size
    habits.endless = known.get("endless") is True
    habits.max_tokens = most if type(most) is int and most >= 0 else None


def _stored(folder: Path | None) -> dict[str, Mapping[str, object]]:
    """What was kept in the last week; nothing if there is no such file."""
    if folder is None:
        return {}
    try:
        found: object = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = cast("dict[str, object]", found if isinstance(found, dict) else {})
    since = time.time() - KEPT_S
    kept: dict[str, Mapping[str, object]] = {}
    for place, entry in entries.items():
        fields = cast("Mapping[str, object]", entry if isinstance(entry, dict) else {})
        at = fields.get("at")
        if isinstance(at, int | float) and at > since:
            kept[place] = fields
    return kept


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def answers_of(own: Mapping[str, Answers], environ: Mapping[str, str]) -> Mapping[str, Answers]:
    """The ways that are set, by model; under the empty name that of all others.

    Raises `InputError` if `environ` names no way.
    """
    given = environ.get(VARIABLE, "").strip()
    if not given:
        return own
    if given not in WAYS:
        raise InputError(f"{VARIABLE} is {given!r}: write one of {', '.join(WAYS)}")
    return {"": given, **own}
