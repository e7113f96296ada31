"""Outputs that workers declare: a schema, a class, or a problem."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from leadhand.teams.loader import load
from tests.team_folders import problems, worker, write_team

HERE = "tests.teams.test_outputs"


class Reply(BaseModel):
    """The output of a worker of these tests."""

    text: str


class Unwritable(BaseModel):
    """Can't be written as JSON Schema."""

    call: Callable[[], str]


SCHEMA = {"type": "array", "items": {"type": "string"}}
LIST = list[Reply]
BAD_SCHEMA = {"type": "lsit"}


def solo(front: str) -> str:
    return worker(f"description: Does a thing\n{front}")


def test_a_json_schema_stays_as_it_is_written(tmp_path: Path) -> None:
    front = (
        "output:\n  type: object\n  properties:\n    parts:\n      type: array\n"
        "      items: {$ref: '#/$defs/part'}\n    level: {enum: [low, 3, true, null]}\n"
        "  required: [parts]\n  $defs: {part: {type: string}}"
    )
    assert load(write_team(tmp_path, solo=solo(front))).workers[0].output == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
            "level": {"enum": ["low", 3, True, None]},
        },
        "required": ["parts"],
        "$defs": {"part": {"type": "string"}},
    }


@pytest.mark.parametrize(("name", "output"), [("Reply", Reply), ("LIST", LIST), ("SCHEMA", SCHEMA)])
def test_a_class_is_found_by_its_name(tmp_path: Path, name: str, output: object) -> None:
    team = load(write_team(tmp_path, solo=solo(f"output: {HERE}:{name}")))
    assert team.workers[0].output == output


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("output: 3", ":3: `output` is 3 and must be a JSON Schema, or name a class as `module:Cl"),
        ("output: Reply", ":3: `output` is 'Reply' and must be a JSON Schema, or name a class as"),
        ("output: nowhere_x:Reply", ":3: there is no module 'nowhere_x': put nowhere_x.py into"),
        (f"output: {HERE}:Repyl", f":3: module {HERE!r} has no 'Repyl': did you mean 'Reply'?"),
        (f"output: {HERE}:solo", f":3: '{HERE}:solo' is a function and must be a class, or a JSON"),
        (f"output: {HERE}:HERE", f":3: '{HERE}:HERE' can't describe JSON data ("),
        (f"output: {HERE}:Unwritable", f":3: '{HERE}:Unwritable' can't describe JSON data"),
        (f"output: {HERE}:BAD_SCHEMA", ":3: is not JSON Schema: 'lsit' is not valid under any of"),
        ("output:\n  type: object\n  properties:\n    a: {type: strin}", ":6: is not JSON Schema:"),
        ("output:\n  type: object\n  required: a", ":5: is not JSON Schema: 'a' is not of type 'a"),
        ("output:\n  items:\n    $ref: '#/$defs/part'", ":5: `$ref` is '#/$defs/part' and must be"),
        ("output: {minimum: .inf}", ":3: `output` is a mapping and contains a number that can't"),
        ("output: {$ref: 'http://127.0.0.1/x'}", ":3: `$ref` is 'http://127.0.0.1/x' and must be "),
    ],
)  # fmt: skip
def test_an_output_that_no_model_could_give_is_a_problem(
    tmp_path: Path, front: str, said: str
) -> None:
    (found,) = problems(write_team(tmp_path, solo=solo(front)))
    assert found.startswith(f"workers/solo.md{said}")


def test_every_mistake_of_a_schema_is_named(tmp_path: Path) -> None:
    front = "output:\n  type: objet\n  required: a\n  minimum: low"
    found = problems(write_team(tmp_path, solo=solo(front)))
    assert [line.partition(": ")[0] for line in found] == [
        f"workers/solo.md:{n}" for n in (4, 5, 6)
    ]
