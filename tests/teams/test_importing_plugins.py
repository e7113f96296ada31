"""`teams import`: the prompts of subagents, and plugins that have subagents."""

from pathlib import Path

import pytest

from leadhand.errors import TeamError
from leadhand.teams.importing import import_team
from leadhand.teams.loader import load


def test_placeholders_that_stay_in_the_prompt_of_a_subagent_are_named(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    text = "Help {user} with {product}.\n\n```py\nprint(f'{code}')\n```\n\nThank {user}.\n"
    (tmp_path / "agents" / "a.md").write_text(f"---\ndescription: D\ntools: Read\n---\n{text}")
    imported = import_team(tmp_path / "agents", tmp_path / "team")
    assert imported.lost == ("a.md:2: {user} and {product}: not filled, stays in the prompt",)
    assert load(imported.folder).workers[0].instructions == text.strip()


def write_plugin(folder: Path, manifest: str | None, *agents: str) -> Path:
    """A plugin with a command, which is no agent, and these agents."""
    for name in (*agents, "commands/fix.md"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nname: {file.stem}\ndescription: Does\ntools: Read\n---\nYou do.\n")
    if manifest is not None:
        (folder / ".claude-plugin").mkdir()
        (folder / ".claude-plugin" / "plugin.json").write_text(manifest)
    return folder


@pytest.mark.parametrize(
    ("manifest", "named", "workers"),
    [
        ('{\n\t"name": "review-kit"\n}', "review-kit", ["a", "b"]),
        ('{"name": "kit", "agents": "./agents/a.md"}', "kit", ["a"]),
        ('{"name": "kit", "agents": ["./agents/b.md", "./more"]}', "kit", ["b", "c"]),
        ('{"name": "../../kit"}', "tool", ["a", "b"]),
        ("{}", "tool", ["a", "b"]),
    ],
)
def test_the_subagents_of_a_plugin_are_a_team_with_its_name(
    tmp_path: Path, manifest: str, named: str, workers: list[str]
) -> None:
    source = write_plugin(tmp_path / "tool", manifest, "agents/a.md", "agents/b.md", "more/c.md")
    team = load(import_team(source, tmp_path / "team").folder)
    assert team.name == named
    assert [one.name for one in team.workers] == workers
    (source / ".claude-plugin" / "plugin.json").unlink()
    team = load(import_team(source / "agents", tmp_path / "other").folder)
    assert (team.name, [one.name for one in team.workers]) == ("agents", ["a", "b"])


@pytest.mark.parametrize(
    "manifest",
    [
        *("[1]", "{", '"x"', '{"agents": ["../../other.md"]}', '{"agents": "/"}'),
        *('{"agents": "out"}', '{"agents": "none"}', '{"agents": {"a": 1}}', '{"agents": [1]}'),
        '{"agents": "a\\u0000b"}',
    ],
)
def test_a_manifest_that_is_none_or_leads_out_of_its_plugin_is_a_problem(
    tmp_path: Path, manifest: str
) -> None:
    (tmp_path / "other.md").write_text("---\nname: other\n---\n")
    source = write_plugin(tmp_path / "kits" / "tool", manifest, "agents/a.md")
    (source / "out").symlink_to("/")
    with pytest.raises(TeamError) as refused:
        import_team(source, tmp_path / "team")
    assert [line.partition(":")[0] for line in refused.value.problems] == [
        ".claude-plugin/plugin.json"
    ]
    assert not (tmp_path / "team").exists()


def test_a_link_to_itself_and_a_folder_outside_are_problems(tmp_path: Path) -> None:
    source, outside = tmp_path / "project", tmp_path / "outside"
    write_plugin(source, None, "a.md")
    write_plugin(outside, None, "b.md")
    (source / "c.md").symlink_to("c.md")
    with pytest.raises(TeamError, match=r"c\.md: can't be read"):
        import_team(source, tmp_path / "team")
    (source / ".claude").mkdir()
    (source / ".claude" / "agents").symlink_to(outside)
    with pytest.raises(TeamError, match=r"\.claude/agents/b\.md: is a link that leads out"):
        import_team(source, tmp_path / "team")
