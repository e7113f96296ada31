"""The settings of a review, which the base of the change has.

They are never read from the work tree or the head of the change: a change can't switch its own
review off. What it tries to set is kept, so that the report can say it.
"""

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StringConstraints, ValidationError

from leadhand import InputError
from leadhand.extension.findings import Finding, Note, Review
from leadhand.tools.git import files_at
from leadhand.tools.text import counted, joined_names, plain_text
from leadhand_teams.review import DEFAULT_THRESHOLD, FailOn

FILES = (".leadhand.toml", "pyproject.toml")
"""Where settings are looked for, at the top of the repository; the first that has some is used."""
Lens = Literal[
    "bugs", "comments", "guidelines", "history", "past_reviews", "performance", "security", "tests"
]
Pattern = Annotated[str, StringConstraints(max_length=300, pattern=r"[^/.\s]")]
_TABLE = ("tool", "leadhand", "review")
_MAX_NAME_CHARS = 60
_MAX_NAMES = 5
_MAX_PATTERNS = 200
_MAX_BYTES = 1 << 20
_MAX_KEY_COST = 4_000_000
"""A key of 2,000 parts: tomllib needs 0.1 s and 20 MB for it, and four times as much for twice."""


class ReviewSettings(BaseModel):
    """What `[tool.leadhand.review]` may have; options of the command line win."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", serialize_by_alias=True, defer_build=True
    )

    threshold: Annotated[StrictInt, Field(ge=0, le=100)] | None = None
    fail_on: FailOn | None = Field(default=None, alias="fail-on")
    lenses: Annotated[tuple[Lens, ...], Field(min_length=1)] | None = None
    """The lenses that take part; `None` for all."""
    exclude: Annotated[tuple[Pattern, ...], Field(max_length=_MAX_PATTERNS)] = ()
    """Patterns of paths that are not reviewed: see `excludes`."""

    def excludes(self, path: str) -> bool:
        """Whether a pattern matches `path` or a folder above it.

        `*` and `?` stay within a name, `**` matches any number of folders. A pattern without `/`
        matches at any depth.
        """
        return any(_matches(pattern, path) for pattern in self.exclude)

    def described(self) -> dict[str, str]:
        """Key -> value in words, defaults included."""
        return {
            "threshold": str(self.threshold if self.threshold is not None else DEFAULT_THRESHOLD),
            "fail-on": self.fail_on or "critical",
            "lenses": joined_names(sorted(self.lenses), most=8) if self.lenses else "all",
            "exclude": joined_names(self.exclude, _MAX_NAMES) or "nothing",
        }


class Stated(BaseModel):
    """The settings that one side of a change states."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True, defer_build=True)

    file: str | None = None
    """Where they are from; `None` if there are none."""
    settings: ReviewSettings = ReviewSettings()
    wrong: str | None = None
    """Why they can't be used."""


class ChangeSettings(BaseModel):
    """The settings of the base of a change, and those that the change would set instead."""

    model_config = ConfigDict(frozen=True, serialize_by_alias=True, defer_build=True)

    base: Stated = Stated()
    """If these are wrong, the change corrects them, and none are used."""
    head: Stated | None = None
    """`None` if the change leaves the settings as they are."""

    @property
    def used(self) -> ReviewSettings:
        """The settings of the review."""
        return self.base.settings

    def notes(self, review: Review, *, is_patch: bool) -> Iterator[Note]:
        """What the reader of `review` has to know about its settings."""
        base, head = self.base, self.head
        if is_patch:
            yield Note(kind="settings", text="No settings were read: a patch has no base.")
        if base.wrong is not None:
            text = f"The base has wrong settings, so that none were used: {base.wrong}"
            yield Note(kind="settings", path=base.file, text=text)
        elif base.file is not None:
            given = self.used.model_dump(exclude_defaults=True)
            said = [
                f"{key} {words}" for key, words in self.used.described().items() if key in given
            ]
            text = f"Settings of the base, where no option says otherwise: {'; '.join(said)}"
            yield Note(kind="settings", path=base.file, text=text)
        if head is not None:
            text = "This change edits the settings of its own review; they were not used"
            text = f"{text}: {head.wrong or self._effect(head.settings, review)}"
            yield Note(kind="settings", path=head.file or base.file, text=text, attempt=True)

    def _effect(self, proposed: ReviewSettings, review: Review) -> str:
        now, then = self.used.described(), proposed.described()
        changed = [
            f"{key} {then[key]} instead of {now[key]}" for key in now if then[key] != now[key]
        ]
        hidden, looks = (
            sum(self._hides(proposed, one) for one in found)
            for found in (review.findings, review.look)
        )
        parts = [counted(hidden, "finding")] if hidden else []
        parts += [f"{looks} that need a look"] if looks else []
        effect = f"would lack {' and '.join(parts)}" if parts else "would be the same"
        return f"{'; '.join(changed)}. With them, the report {effect}."

    def _hides(self, proposed: ReviewSettings, finding: Finding) -> bool:
        lenses = {lens.removesuffix("-model") for lens in finding.lenses}
        threshold = proposed.threshold if proposed.threshold is not None else DEFAULT_THRESHOLD
        return (
            (proposed.threshold != self.used.threshold and finding.confidence < threshold)
            or (proposed.lenses is not None and lenses.isdisjoint(proposed.lenses))
            or proposed.excludes(finding.path)
        )


def read_settings(git_dir: Path, base: str, head: str) -> ChangeSettings:
    """The settings of the commit or tree `base`, and what `head` makes of them.

    Raises `InputError` with file and key if those of the base are wrong, unless the head has other,
    usable ones.
    """
    content = files_at(git_dir, [(tree, file) for tree in (base, head) for file in FILES])
    before, after = content[: len(FILES)], content[len(FILES) :]
    stated = _stated(before)
    proposed = _stated(after) if before != after else stated
    if stated.wrong is not None and (before == after or proposed.wrong is not None):
        raise InputError(f"wrong settings in the base of the change: {stated.wrong}")
    same = (proposed.settings, proposed.wrong) == (stated.settings, stated.wrong)
    return ChangeSettings(base=stated, head=None if same else proposed)


def _stated(contents: Sequence[bytes | None]) -> Stated:
    """The settings in the contents of `FILES`, or what is wrong with them."""
    for file, content in zip(FILES, contents, strict=True):
        # A pyproject.toml serves other tools too: one that does not name leadhand is left alone.
        if content is None or (file == "pyproject.toml" and b"leadhand" not in content):
            continue
        if len(content) > _MAX_BYTES or _key_cost(content) > _MAX_KEY_COST:
            why = "it is too large, or its keys have too many parts"
            return Stated(file=file, wrong=f"{file}: {why}")
        try:
            table = _table(file, tomllib.loads(plain_text(content)))
            if table is not None:
                return Stated(file=file, settings=ReviewSettings.model_validate(table))
        except ValidationError as error:
            return Stated(file=file, wrong=f"{file}: {'; '.join(_problems(error))}")
        except (ValueError, RecursionError) as error:  # ValueError: also of numbers without end
            return Stated(file=file, wrong=f"{file}: {error or 'nested too deeply'}")
    return Stated()


def _key_cost(content: bytes) -> int:
    """What the dotted keys cost to parse at most: the square of their parts, line by line."""
    return sum(line.count(b".") ** 2 for line in content.splitlines())


def _table(file: str, data: Mapping[str, object]) -> object:
    """The table of the review; a file of ours may also have `[review]`, or nothing but the keys."""
    places = [_TABLE] if file == "pyproject.toml" else [_TABLE, _TABLE[-1:], ()]
    tables = (functools.reduce(_value, place, cast("object", data)) for place in places)
    return next((table for table in tables if table is not None), None)


def _value(table: object, key: str) -> object:
    return cast("Mapping[str, object]", table).get(key) if isinstance(table, Mapping) else None


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False):
        key = ".".join(str(part)[:_MAX_NAME_CHARS] for part in problem["loc"]) or "review"
        if problem["type"] == "extra_forbidden":
            known = [one.alias or name for name, one in ReviewSettings.model_fields.items()]
            yield f"{key}: there is no such key; there are {joined_names(known, most=9)}"
        else:
            yield f"{key}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"


def _matches(pattern: str, path: str) -> bool:
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    if "/" not in pattern.rstrip("/"):
        names = ["**", *names]
    at: set[int] = {0}
    """The places in the pattern that are reached."""
    for name in (*path.split("/"), ""):
        for place in range(len(names)):
            if place in at and names[place] == "**":
                at.add(place + 1)  # it may match no folder
        if len(names) in at:
            return True
        at = {
            place if names[place] == "**" else place + 1
            for place in at
            if names[place] == "**" or fnmatchcase(name, names[place])
        }
    return False
