"""The callers of what a change touches, and the tests that name it, so that models need not search.

Found by name over the Python files after the change. A function counts where it is imported or
reached through its module, a method in files that name its class; another method of that name may
be among them.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from leadhand import LeadhandError
from leadhand.tools.text import counted, joined_names
from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison.code import Code, base_codes, head_codes
from leadhand_teams.review.diff_rows import fitting
from leadhand_teams.review.lenses.bugs.uses import SourceFile, Workspace
from leadhand_teams.review.syntax import is_test

MAX_CHARS = 5_000
"""The most text about callers for one part of the change, and about tests."""
MAX_DEFINITIONS = 400
"""The first definitions that a change touches are searched for."""
MAX_PLACES = 5
"""The most callers of a definition, and tests, that are quoted."""
_MAX_LINE_CHARS = 160
_MAX_UNUSED = 20

Kind = Literal["callers", "tests"]


class Definition(NamedTuple):
    """A function, method or class that the change touches or removes."""

    path: str
    line: int
    """In the new file; in the old one if it was removed."""
    name: str
    """What callers write: the class's name for a constructor."""
    owner: str
    """The class of a method; empty for anything else."""
    removed: bool = False

    @property
    def full_name(self) -> str:
        """`Shop.pay`, or the name alone."""
        return f"{self.owner}.{self.name}" if self.owner else self.name

    @property
    def stem(self) -> str:
        """The last part of its module's name."""
        module = PurePosixPath(self.path)
        return module.parent.name if module.stem == "__init__" else module.stem

    def __str__(self) -> str:
        """`Shop.pay (shop.py:12)`."""
        return f"{self.full_name} ({self.path}:{self.line}{', removed' if self.removed else ''})"


class UsageLine(NamedTuple):
    """A line that names a definition."""

    path: str
    line: int
    within: str
    """The function or class around it; empty at the module's level."""
    text: str

    def __str__(self) -> str:
        """`web.py:40 in checkout: pay(user)`."""
        within = f" in {self.within}" if self.within else ""
        cut = self.text[:_MAX_LINE_CHARS]
        return f"{self.path}:{self.line}{within}: {cut}{'' if cut == self.text else ' ... (cut)'}"


@dataclass(frozen=True, slots=True)
class Usages:
    """The places that name each definition that a change touches."""

    places: dict[Definition, list[UsageLine]]
    cut: str = ""
    """What was not searched, or why nothing was; empty if everything was."""

    @classmethod
    def of(cls, change: Change) -> "Usages":
        """The usages in the files after `change`; none if there is only a patch."""
        if change.git_dir is None or change.head is None:
            return cls({})
        every = [one for file in change.files for one in touched(file)]
        places: dict[Definition, list[UsageLine]] = {one: [] for one in every[:MAX_DEFINITIONS]}
        try:
            workspace = Workspace(change)
            named = workspace.files_mentioning(list({one.name for one in places}))
            # The changed files first, because most callers of what is private are there.
            for path in sorted(named, key=lambda path: (path not in change.by_path, path)):
                for one in (one for one in places if one.name in named[path]):
                    source = workspace.source(path, one.path)
                    places[one] += _places(one, source) if source is not None else ()
        except LeadhandError as error:
            return cls({}, f"Not searched: {error}")
        cuts = {
            f"the definitions beyond the first {MAX_DEFINITIONS}": len(every) - len(places),
            "files that may use them": len(workspace.unread),
        }
        return cls(places, "\n".join(f"Not searched: {n:,} of {w}." for w, n in cuts.items() if n))

    def about(self, paths: Iterable[str], kind: Kind) -> str:
        """The callers or tests of what the change touches in `paths`, one place per line.

        At most `MAX_CHARS`; what is left out is counted.
        """
        known = set(paths)
        found = {
            one: [place for place in places if is_test(place.path) == (kind == "tests")]
            for one, places in self.places.items()
            if one.path in known
        }
        used = [_about(one, places) for one, places in found.items() if places]
        texts = [fitting(used, MAX_CHARS)]
        # What is private is tested by its callers.
        expected = (one for one in found if kind == "callers" or not one.name.startswith("_"))
        if unused := [one.full_name for one in expected if not found[one]]:
            texts.append(f"No {kind} name {joined_names(unused, _MAX_UNUSED)}.")
        return "\n".join(filter(None, [*texts, self.cut]))


def _about(definition: Definition, places: Sequence[UsageLine]) -> str:
    rows = [f"{definition}", *(f"  {place}" for place in places[:MAX_PLACES])]
    if more := places[MAX_PLACES:]:
        files = counted(len({place.path for place in more}), "file")
        rows.append(f"  ... and {counted(len(more), 'more place')} in {files}")
    return "\n".join(rows)


def touched(file: ChangedFile) -> Iterator[Definition]:
    """The functions, methods and classes that `file` changes or removes, tests excluded."""
    if is_test(file.path):
        return
    after, before = dict(_definitions(head_codes(file))), dict(_definitions(base_codes(file)))
    kept = {(one.owner, one.name): one for one in after}
    touched = {(one.owner, one.name): one for one in after if after[one]}
    for one in (one for one in before if before[one]):
        now = kept.get((one.owner, one.name), one._replace(removed=True))
        touched.setdefault((one.owner, one.name), now)
    yield from sorted(touched.values(), key=lambda one: (one.removed, one.line))


def _definitions(side: Mapping[str, Code]) -> Iterator[tuple[Definition, bool]]:
    """Each function and method of a side, and whether the change has lines of it; a constructor
    stands for its class."""
    for key, code in side.items():
        node, (owner, _, name) = code.node, code.name.rpartition(".")
        in_class = owner in side and isinstance(side[owner].node, ast.ClassDef)
        if (
            not isinstance(node, syntax.Function)
            or "." in owner
            or "#" in key
            or (owner and not in_class)
        ):
            continue
        lines = range(syntax.first_line(node), (node.end_lineno or node.lineno) + 1)
        touched = any(line in code.changed for line in lines)
        if owner and name in ("__init__", "__new__"):
            yield Definition(code.file.path, node.lineno, owner, ""), touched
        elif not (owner and name.startswith("__")):
            yield Definition(code.file.path, node.lineno, name, owner), touched


def _places(definition: Definition, source: SourceFile) -> Iterator[UsageLine]:
    """The lines of a file that use a definition, without imports."""
    lines = source.text.split("\n")
    own = source.path == definition.path
    found: dict[int, UsageLine] = {}
    for node in source.named[definition.name]:
        if definition.owner:
            uses = isinstance(node, ast.Attribute) and (own or definition.owner in source.text)
        elif isinstance(node, ast.Name):
            uses = own or source.names.resolve(node.id) != node.id
        else:
            full = f"{definition.stem}.{definition.name}"
            uses = source.names.dotted(node).endswith(full)
        if uses:
            around = (getattr(up, "name", "") for up in source.tree.ancestors(node))
            within = ".".join(reversed([*filter(None, around)]))
            line = node.end_lineno or node.lineno
            found[line] = UsageLine(source.path, line, within, lines[line - 1].strip())
    yield from (found[line] for line in sorted(found))
