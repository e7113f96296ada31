"""Which part of a table a request asks about: measures, the grouping column, single groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from leadhand.teams.research.word_forms import matched, stems
from leadhand.tools.sql.profile import TableProfile
from leadhand.tools.sql.roles import ColumnProfile

MAX_MEASURES: Final = 3
MAX_GROUPS: Final = 12
_GROUPING: Final = ("VARCHAR", "BOOLEAN")


@dataclass(frozen=True, slots=True)
class Focus:
    """The part of a table that is shown."""

    measures: tuple[str, ...]
    group: ColumnProfile | None
    """The column by which rows are grouped."""
    values: tuple[str, ...]
    """The values of that column that the request names; empty stands for all."""
    named: tuple[str, ...]
    """The words of the request that occur in the table."""


def focus(profile: TableProfile, words: Sequence[str]) -> Focus:
    """The part of the table that `words` name; all of it if they name none."""
    found = dict.fromkeys(
        [one.measure for one in profile.rankings] + [one.measure for one in profile.growths]
    )
    wanted = [measure for measure in found if matched(words, measure)]
    group = _group(profile, words)
    return Focus(
        measures=tuple(wanted or found)[:MAX_MEASURES],
        group=group,
        values=_named_values(group, profile, words) if group else (),
        named=matched(words, *_vocabulary(profile)),
    )


def _vocabulary(profile: TableProfile) -> list[str]:
    columns = profile.columns
    named = [profile.table.name, profile.table.file, *(one.name for one in columns)]
    ends = [text for one in columns for text in (one.minimum, one.maximum) if text]
    ranked = [row.label for one in profile.rankings for row in (*one.top, *one.bottom)]
    return [*named, *ends, *ranked, *(value for one in columns for value in _values(one, profile))]


def _group(profile: TableProfile, words: Sequence[str]) -> ColumnProfile | None:
    """The column that the request names, or names a value of; else the most likely one."""
    rows = profile.table.rows
    fitting = [
        one
        for one in profile.columns
        if one.type in _GROUPING and 1 < one.distinct <= MAX_GROUPS and one.distinct < rows
    ]
    followed = {one.group[0] for one in profile.growths if one.group is not None}

    def fitness(column: ColumnProfile) -> tuple[bool, bool, bool]:
        by_value = bool(_named_values(column, profile, words))
        return bool(matched(words, column.name)), by_value, column.name in followed

    return max(fitting, key=fitness, default=None)


def _named_values(
    column: ColumnProfile, profile: TableProfile, words: Sequence[str]
) -> tuple[str, ...]:
    """The values of a column that `words` name in full: `New York` is not named by "new"."""
    there = stems(*words)
    return tuple(
        value for value in _values(column, profile) if (own := stems(value)) and own <= there
    )


def _values(column: ColumnProfile, profile: TableProfile) -> list[str]:
    """The known values of a column: the most frequent ones, and the groups with a growth."""
    groups = (one.group for one in profile.growths if one.group is not None)
    followed = [value for name, value in groups if name == column.name]
    return list(dict.fromkeys([value for value, _ in column.top] + followed))
