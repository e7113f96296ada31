"""Reads cases: YAML and JSON lines, lists of requests."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml
from pydantic import ValidationError

from leadhand.contracts.data import in_one_line
from leadhand.errors import InputError
from leadhand.evals.cases import Case

SUFFIXES = (".jsonl", ".yaml", ".yml")
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # ten times as fast
NAMES = ("cases.jsonl", "cases.yaml", "cases.yml", "cases")


def read_cases(place: str | Path) -> list[Case]:
    """The cases in a file, or in all files of a folder by name. Raises `InputError`.

    A case without a name is named by its position.
    """
    place = Path(place)
    files = [place]
    if place.is_dir():
        files = sorted(one for one in place.iterdir() if one.suffix in SUFFIXES)
    cases: list[Case] = []
    for file in files:
        for number, (where, data) in enumerate(_entries(file), start=1):
            try:
                case = Case.model_validate(data)
            except ValidationError as error:
                raise InputError(f"{where}: {in_one_line(error)}") from None
            inputs = tuple(str((file.parent / one).absolute()) for one in case.inputs)
            if missing := [one for one in inputs if not Path(one).exists()]:
                raise InputError(f"{where}: its input {missing[0]} does not exist")
            prefix = f"{file.stem}-" if len(files) > 1 else "case-"
            name = case.name or f"{prefix}{number}"
            cases.append(case.model_copy(update={"inputs": inputs, "name": name}))
    names = Counter(case.name for case in cases)
    if twice := sorted(name for name, count in names.items() if count > 1):
        raise InputError(f"{place}: two cases are called {twice[0]!r}: name them differently")
    if not cases:
        raise InputError(f"{place} has no cases: write a list of `- request: ...`")
    return cases


def cases_beside(folder: Path) -> Path | None:
    """Where the cases of a team in `folder` are, if it has some."""
    return next((folder / name for name in NAMES if (folder / name).exists()), None)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} can't be read as UTF-8 text: {error}") from error


def _entries(file: Path) -> Iterator[tuple[str, object]]:
    text = _text(file)
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    yield f"{file}:{number}", json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"{file}:{number} is not JSON: {error}") from error
        return
    try:
        rows: object = yaml.load(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(rows, list):
        raise InputError(f"{file} is no list of cases: write `- request: ...` for each")
    for number, row in enumerate(cast("list[object]", rows), start=1):
        yield f"{file}, case {number}", row
