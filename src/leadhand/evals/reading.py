"""Reads cases: YAML and JSON lines, lists of requests, and datasets of pydantic-evals."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import yaml
from pydantic import JsonValue, TypeAdapter, ValidationError

from leadhand.contracts.data import Many, in_one_line
from leadhand.errors import InputError
from leadhand.evals.cases import Case

SUFFIXES = (".jsonl", ".yaml", ".yml")
MAX_BYTES = 20 * 1024 * 1024
MAX_VALUES = 1_000_000
"""How many values a YAML file may have, where each alias counts as what it stands for."""
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader  # ten times as fast
_EVALUATORS = TypeAdapter(Many[str | dict[str, JsonValue]])
NAMES = ("cases.jsonl", "cases.yaml", "cases.yml", "cases")


def read_cases(place: str | Path) -> list[Case]:
    """The cases in a file, or in all files of a folder by name. Raises `InputError`.

    A case without a name is named by its position.
    """
    place = Path(place)
    files = [place]
    if place.is_dir():
        files = sorted(one for one in place.iterdir() if one.suffix in SUFFIXES)
        if not files:
            raise InputError(f"{place} has no cases: no file that ends with {', '.join(SUFFIXES)}")
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
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise InputError(f"{file} is larger than {MAX_BYTES >> 20} MiB: split it into several")
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror or error}") from error


def _entries(file: Path) -> Iterator[tuple[str, object]]:
    text = _text(file)
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                try:
                    yield f"{file}:{number}", json.loads(line)
                except (ValueError, RecursionError) as error:
                    why = error.msg if isinstance(error, json.JSONDecodeError) else error
                    raise InputError(f"{file}:{number} is not JSON: {why}") from error
        return
    try:
        data: object = yaml.load(text, Loader=_LOADER)
        _bound(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    rows, common = data, list[tuple[str, JsonValue]]()
    if isinstance(data, dict):
        dataset = cast("dict[str, object]", data)
        rows, common = dataset.get("cases"), _evaluators(dataset.get("evaluators"), file)
    if not isinstance(rows, list):
        raise InputError(f"{file} is no list of cases: write `- request: ...` for each")
    for number, row in enumerate(cast("list[object]", rows), start=1):
        where = f"{file}, case {number}"
        foreign = isinstance(row, dict) and "inputs" in row and "request" not in row
        yield where, _of_dataset(cast("dict[str, object]", row), common, where) if foreign else row


def _bound(data: object) -> None:
    """Raises `ValueError` if there are too many values: aliases of aliases multiply."""
    count = 0
    inner: list[object] = [data]
    while inner:
        value = inner.pop()
        if isinstance(value, dict):
            inner += cast("dict[object, object]", value).values()
        elif isinstance(value, list):
            inner += cast("list[object]", value)
        count += 1
        if count + len(inner) > MAX_VALUES:
            raise ValueError(f"more than {MAX_VALUES:,} values, with those of its aliases")


def _evaluators(given: object, where: object) -> list[tuple[str, JsonValue]]:
    try:
        rows = _EVALUATORS.validate_python(given or ())
    except ValidationError:
        why = "`evaluators` is no list of names, or of lines such as `- Contains: some text`"
        raise InputError(f"{where}: {why}") from None
    named = [{row: None} if isinstance(row, str) else row for row in rows]
    return [
        (name, next(iter(value.values()), None) if isinstance(value, dict) else value)
        for row in named
        for name, value in row.items()
    ]


def _of_dataset(row: dict[str, object], common: list[tuple[str, JsonValue]], where: str) -> object:
    """A case of a dataset of pydantic-evals as one of ours."""
    given, wanted = row["inputs"], row.get("expected_output")
    facts: list[object] = [wanted] if isinstance(wanted, str) else []
    rubric: list[object] = []
    answer: dict[str, object] = {} if wanted is None or facts else {"output": wanted}
    for name, value in (*common, *_evaluators(row.get("evaluators"), where)):
        match name:
            case "EqualsExpected":
                pass  # the expected output is compared in any case
            case "Contains":
                facts.append(value)
            case "Equals":
                answer["output"] = value
            case "LLMJudge":
                rubric.append({"question": value})
            case _:
                raise InputError(
                    f"{where}: there is no evaluator {name!r} here; Contains, Equals, "
                    "EqualsExpected and LLMJudge are read, others are written as scorers"
                )
    case: dict[str, object] = {"name": row.get("name") or ""}
    case |= cast("dict[str, object]", given) if isinstance(given, dict) else {"request": given}
    if facts or rubric:
        case["synthesis"] = {"facts": facts, "rubric": rubric}
    return {**case, "answer": answer} if answer else case
