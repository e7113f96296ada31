"""`router train` names the router in team.yaml, and changes nothing else there."""

from pathlib import Path

import pytest

from leadhand.teams.trained_router import name_in_team_file


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: desk", "name: desk\ntrained_router: router.json\n"),
        ("# mine\r\nname: desk\r\n", "# mine\r\nname: desk\r\ntrained_router: router.json\r\n"),
        ("", "trained_router: router.json\n"),
        ("trained_router: router.json\n", "trained_router: router.json\n"),
    ],
)
def test_a_line_is_added_where_team_yaml_reads_the_same_otherwise(
    before: str, after: str, tmp_path: Path
) -> None:
    file = tmp_path / "team.yaml"
    file.write_bytes(before.encode())
    assert name_in_team_file(tmp_path, "router.json")
    assert file.read_bytes() == after.encode()
    assert [*tmp_path.iterdir()] == [file]


@pytest.mark.parametrize(
    "text",
    ["{name: desk}\n", "description: |\n  a\n  b\n...\n", "trained_router: other.json\n", ": ["],
)
def test_any_other_file_stays_as_it_is(text: str, tmp_path: Path) -> None:
    file = tmp_path / "team.yaml"
    file.write_text(text, encoding="utf-8")
    assert not name_in_team_file(tmp_path, "router.json")
    assert file.read_text(encoding="utf-8") == text
    assert [*tmp_path.iterdir()] == [file]
