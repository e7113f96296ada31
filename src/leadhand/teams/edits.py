"""Makes a new folder of a team, or edits a team.yaml and keeps the rest."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import yaml

from leadhand.errors import InputError
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.files import Value, read_yaml
from leadhand.teams.notes import Notes

_WIDTH = 100

Keys = Mapping[str, Value]
"""New values of keys. `None` removes a key, also in a mapping, which keeps its other keys."""


def fill_new(folder: Path, write: Callable[[Path], None]) -> Path:
    """Create `folder`, or fill an empty one, with what `write` puts into the path that it gets.
    Raises `InputError` if `folder` is not empty or can't be written."""
    try:
        place = folder.resolve()
        is_new = not place.exists()
        if is_new and not place.parent.is_dir():
            raise InputError(
                f"there is no folder {str(folder.parent)!r} to make {place.name!r} in: make it "
                "first"
            )
        if is_new:
            place.mkdir()
        elif not place.is_dir():
            raise InputError(f"{str(folder)!r} exists and is not a folder: name another")
        elif any(place.iterdir()):
            raise InputError(
                f"folder {str(folder)!r} is not empty: name one that does not exist yet"
            )
        try:
            with tempfile.TemporaryDirectory(dir=place, prefix=".new-team-") as beside:
                written = Path(beside) / "team"
                write(written)
                # The file that makes it a team comes last.
                for name in sorted(os.listdir(written), key=lambda name: name == TEAM_FILE):
                    (written / name).rename(place / name)
        except BaseException:
            if is_new:
                shutil.rmtree(place)
            raise
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"no team can be made in {str(folder)!r}: {why}") from error
    return folder


def edit(folder: Path, changes: Keys) -> None:
    """Change keys of a team.yaml; comments and other keys stay. It is replaced whole, or stays.
    Raises `InputError` if it can't be, or anything else would change."""
    path = folder / TEAM_FILE
    notes = Notes()
    written = read_yaml(path, path.name, notes)
    if written is None:
        raise InputError(f"{path} can't be edited: {' '.join(notes.problems)}")
    new = _merged(written.values, changes)
    trial = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        raw = path.read_bytes().decode()
        text = raw.replace("\r\n", "\n")
        for key in changes:
            text = _with_key(text, key, changes[key], new.get(key))
        trial.write_text(text, encoding="utf-8", newline="\r\n" if "\r\n" in raw else "\n")
        after = read_yaml(trial, path.name, notes)
        if after is None or after.values != new:
            keys = " and ".join(f"`{key}`" for key in changes)
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


def _merged(values: Keys, changes: Keys) -> dict[str, Value]:
    new = dict(values)
    for key, value in changes.items():
        before = values.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            value = value | {own: kept for own, kept in before.items() if own not in value}
            new[key] = cast("Value", {own: one for own, one in value.items() if one is not None})
            continue
        new[key] = value
    return {key: value for key, value in new.items() if value is not None}


def _with_key(text: str, key: str, change: Value, value: Value) -> str:
    """The text with a key of the top changed to `value`; the caller checks what it reads as."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    root = cast("yaml.Node | None", yaml.compose(text, Loader=yaml.SafeLoader))  # pyright: ignore[reportUnknownMemberType]
    known = _spans(root, lines)
    start, end, node = known.get(key, (len(lines), len(lines), None))
    if isinstance(change, dict) and isinstance(node, yaml.MappingNode) and not node.flow_style:
        inner = _spans(node, lines)
        for own in [name for name in reversed(inner) if name in change]:
            del lines[inner[own][0] : inner[own][1]]
        indent = " " * node.start_mark.column
        kept: dict[str, Value] = {name: one for name, one in change.items() if one is not None}
        lines.insert(start + 1, "".join(f"{indent}{line}" for line in _yaml_lines(kept)))
    else:
        lines[start:end] = [] if value is None else _yaml_lines({key: value})
    return "".join(lines)


def _spans(node: yaml.Node | None, lines: list[str]) -> dict[str, tuple[int, int, yaml.Node]]:
    """Of each key of a mapping: its lines, without comments and blank lines that follow."""
    found: dict[str, tuple[int, int, yaml.Node]] = {}
    pairs: object = node.value if isinstance(node, yaml.MappingNode) else []  # pyright: ignore[reportUnknownMemberType]
    entries = cast("list[tuple[yaml.ScalarNode, yaml.Node]]", pairs)
    starts = [key.start_mark.line for key, _ in entries]
    ends = [*starts[1:], len(lines)]
    for (key, value), start, following in zip(entries, starts, ends, strict=False):
        end = min(following, value.end_mark.line + (value.end_mark.column > 0))
        while end > start + 1 and (lines[end - 1].lstrip() or "#").startswith("#"):
            end -= 1
        found[key.value] = (start, max(end, start + 1), value)
    return found


def _yaml_lines(values: Keys) -> list[str]:
    # Through JSON, so that the same list twice is not written as an alias.
    plain: object = json.loads(json.dumps(values))
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text.splitlines(keepends=True)
