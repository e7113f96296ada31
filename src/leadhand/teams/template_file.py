"""Edits the team.yaml of a folder, such as its plan template, and keeps the rest of the file."""

import json
import os
from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path
from typing import cast

import yaml

from leadhand.contracts.team import TaskTemplate
from leadhand.errors import InputError
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.files import TeamFile, Value, read_yaml
from leadhand.teams.notes import Notes

_OWN = ("kind", "synthesis", "template")
"""The keys of `planner` that freezing a plan sets."""
_WIDTH = 100


def planner_values(
    before: Value, template: Sequence[TaskTemplate], synthesis: str
) -> dict[str, Value]:
    """`planner` of team.yaml with this template, which then always is the plan."""
    known = before if isinstance(before, dict) else {}
    kept = {key: value for key, value in known.items() if key not in _OWN}
    entries: list[Value] = [_entry(one) for one in template]
    return {"kind": "template", "synthesis": synthesis, "template": entries, **kept}


def with_template(text: str, written: TeamFile, planner: Mapping[str, Value]) -> str:
    """The text of team.yaml with `planner`; comments elsewhere stay, and those of kept keys too.

    The caller checks what the result reads as.
    """
    own = {key: planner[key] for key in _OWN}
    found = _planner_nodes(text)
    if found is None:
        end = "" if text.endswith("\n") or not text else "\n"
        return f"{text}{end}{_yaml({'planner': own})}"
    key, node = found
    if isinstance(node, yaml.MappingNode) and not node.flow_style:
        return _in_block(text, node, own, first=key.start_mark.line + 1)
    start, stop = node.start_mark.index, node.end_mark.index
    return f"{text[:start].rstrip(' ')}\n{_indented(_yaml(planner), 2).rstrip()}{text[stop:]}"


def with_keys(text: str, changes: Mapping[str, Value]) -> str:
    """The text of team.yaml with these keys, without those that are None; comments stay.

    The caller checks what the result reads as.
    """
    root = _root(text)
    kept = text
    if isinstance(root, yaml.MappingNode) and not root.flow_style:
        kept = "".join(_without(text, root, changes.keys()))
    new = {key: value for key, value in changes.items() if value is not None}
    end = "" if kept.endswith("\n") or not kept else "\n"
    return f"{kept}{end}{_yaml(new) if new else ''}"


def write_template(folder: Path, template: Sequence[TaskTemplate], synthesis: str) -> None:
    """Make `template` the plan of the team in a folder. The file is replaced whole, or stays.

    Raises `InputError` if the file can't be read or written, or can't be edited without changing
    what else it says.
    """

    def planner(written: TeamFile) -> dict[str, Value]:
        return planner_values(written.values.get("planner"), template, synthesis)

    edit(
        folder / TEAM_FILE,
        lambda text, written: with_template(text, written, planner(written)),
        lambda written: {"planner": planner(written)},
    )


def edit(
    path: Path,
    change: Callable[[str, TeamFile], str],
    changes: Callable[[TeamFile], Mapping[str, Value]],
) -> None:
    """Replace a YAML file by what `change` makes of its text, or leave it as it is.

    `changes` gives the keys that then differ, None for those that are gone. Raises `InputError` if
    the file can't be read or written, or anything else of it would change.
    """
    notes = Notes()
    written = read_yaml(path, path.name, notes)
    if written is None:
        raise InputError(f"{path} can't be edited: {' '.join(notes.problems)}")
    new = changes(written)
    wanted = {key: value for key, value in {**written.values, **new}.items() if value is not None}
    trial = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        raw = path.read_bytes().decode()
        text = change(raw.replace("\r\n", "\n"), written)
        trial.write_text(text, encoding="utf-8", newline="\r\n" if "\r\n" in raw else "\n")
        after = read_yaml(trial, path.name, notes)
        if after is None or after.values != wanted:
            keys = " and ".join(f"`{key}`" for key in new)
            raise InputError(
                f"{path} can't be edited without changing what else it says: write {keys} as a "
                "mapping with a key a line, and try again"
            )
        trial.chmod(path.stat().st_mode)
        trial.replace(path)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error
    finally:
        trial.unlink(missing_ok=True)


def _entry(entry: TaskTemplate) -> dict[str, Value]:
    values: dict[str, object] = {
        "id": entry.id,
        "worker": entry.worker,
        "intent": entry.intent,
        "depends_on": [*entry.depends_on],
        "payload": entry.payload,
        "done_when": entry.done_when,
        "tolerates_missing": entry.tolerates_missing,
        "timeout_s": entry.limits.timeout_s,
    }
    return {key: cast("Value", value) for key, value in values.items() if value or key == "id"}


def _root(text: str) -> yaml.Node | None:
    return cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]


def _planner_nodes(text: str) -> tuple[yaml.Node, yaml.Node] | None:
    """The key `planner` and its value."""
    root = _root(text)
    if not isinstance(root, yaml.MappingNode):
        return None
    return next(((key, value) for key, value in root.value if key.value == "planner"), None)


def _in_block(text: str, node: yaml.MappingNode, own: Mapping[str, Value], *, first: int) -> str:
    """The text with the keys `own` at the beginning of the mapping, line `first` from 0."""
    lines = _without(text, node, own.keys())
    lines.insert(first, _indented(_yaml(own), node.start_mark.column))
    return "".join(lines)


def _without(text: str, node: yaml.MappingNode, gone: Set[str]) -> list[str]:
    """The lines of the text without these keys of a block mapping."""
    lines = text.splitlines(keepends=True)
    keys = [key.start_mark.line for key, _ in node.value]
    ends = [*keys[1:], _end_line(lines, node)]
    for (key, _), start, end in reversed([*zip(node.value, keys, ends, strict=True)]):
        if key.value in gone:
            # Comments above the next key belong to that one.
            while end > start + 1 and lines[end - 1].lstrip().startswith(("#", "\n")):
                end -= 1
            del lines[start:end]
    return lines


def _end_line(lines: Sequence[str], node: yaml.MappingNode) -> int:
    """The line after the last one of a block mapping, without what follows it."""
    end = node.end_mark.line + (node.end_mark.column > 0)
    end = min(end, len(lines))
    while end > node.start_mark.line + 1 and lines[end - 1].lstrip().startswith(("#", "\n")):
        end -= 1
    if end and not lines[end - 1].strip():
        end -= 1
    return end


def _indented(text: str, columns: int) -> str:
    return "".join(f"{' ' * columns}{line}" for line in text.splitlines(keepends=True))


def _yaml(values: Mapping[str, Value]) -> str:
    # Through JSON, so that the same list twice is not written as an alias.
    plain: object = json.loads(json.dumps(values))
    return yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=_WIDTH)
