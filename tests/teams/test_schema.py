"""The JSON Schemas that come with leadhand for editors."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from pydantic import JsonValue
from pydantic_core import from_json

from leadhand.teams.files import TeamFile, read_markdown, read_yaml
from leadhand.teams.loader import ready_made
from leadhand.teams.notes import Notes
from leadhand.teams.scaffold import SCHEMAS
from tests.team_folders import worker, write_team

Schema = dict[str, JsonValue]
WRITER = runpy.run_path(
    str(Path(__file__).parent.parent.parent / "docs" / "reference" / "schemas.py")
)
FILES: tuple[str, ...] = tuple(WRITER["FILES"])


def shipped(name: str) -> Schema:
    return cast("Schema", from_json((SCHEMAS / name).read_bytes()))


def mistakes(document: TeamFile | None, name: str) -> list[str]:
    """The mistakes that an editor would mark in a file."""
    assert document is not None
    schema = shipped(name)
    found = validator_for(schema)(schema).iter_errors(document.values)
    return [error.message for error in found]


def described(schema: JsonValue, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every property of a schema, and whether it has a description."""
    if isinstance(schema, list):
        for item in schema:
            yield from described(item, path)
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            for name, one in properties.items():
                yield f"{path}.{name}", isinstance(one, dict) and bool(one.get("description"))
        for key, inner in schema.items():
            yield from described(inner, f"{path}.{key}")


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_files_are_those_that_the_fields_make(name: str) -> None:
    """If this fails: `make reference`."""
    assert (SCHEMAS / name).read_text(encoding="utf-8") == WRITER["text"](name)


@pytest.mark.parametrize("name", FILES)
def test_a_schema_is_sound_and_describes_every_property(name: str) -> None:
    schema = shipped(name)
    Draft202012Validator.check_schema(schema)
    found = dict(described(schema))
    assert len(found) > 15
    assert [path for path, said in found.items() if not said] == []


def test_editors_accept_every_file_of_the_ready_made_teams() -> None:
    for folder in ready_made().values():
        assert mistakes(read_yaml(folder / "team.yaml", "", Notes()), "team.schema.json") == []
        for file in (folder / "workers").iterdir():
            assert mistakes(read_markdown(file, "", Notes()), "worker.schema.json") == []


@pytest.mark.parametrize(
    "team",
    [
        "models: a:b\nsynthesizer: merge\nshared_tools: a, b\n",
        "models: {fast: a:b, strong: [a:c, a:d]}\nsynthesizer: {strategy: merge, plain: true}\n",
        "planner: {tier: fast, settings: {temperature: 0, openai_own: x, thinking: high}}\n",
        "planner: template\n",
        "ladder: {backoff_s: 3}\nlimits: {tier: fast, timeout_s: 1.5}\n",
    ],
)
def test_editors_accept_what_the_loader_accepts(tmp_path: Path, team: str) -> None:
    written = read_yaml(write_team(tmp_path, team) / "team.yaml", "", Notes())
    assert mistakes(written, "team.schema.json") == []


@pytest.mark.parametrize(
    "team",
    ["nmae: x", "models: {fats: a:b}", "models: 3", "planner: {tier: best}",
     "planner: {plain: true}", "planner: {template: [{id: a}]}", "limits: {timeout_s: 0}",
     "synthesizer: {strategy: 3}", "planner: templates", "planner: {kind: 3}"],
)  # fmt: skip
def test_editors_mark_what_the_loader_complains_of(tmp_path: Path, team: str) -> None:
    written = read_yaml(write_team(tmp_path, team) / "team.yaml", "", Notes())
    assert mistakes(written, "team.schema.json")


@pytest.mark.parametrize(
    ("front", "is_fine"),
    [
        ("tools: a, b\nmodel: inherit\noutput: work:Reply", True),
        ("output: {type: object}\nsettings: {seed: 3}\nmin_confidence: 40", True),
        ("tier: best", False),
        ("output: Reply", False),
        ("color: blue", False),
        ("min_confidence: 400", False),
    ],
)
def test_editors_know_the_front_matter(tmp_path: Path, front: str, is_fine: bool) -> None:
    file = write_team(tmp_path, solo=worker(front)) / "workers" / "solo.md"
    assert (mistakes(read_markdown(file, "", Notes()), "worker.schema.json") == []) is is_fine
