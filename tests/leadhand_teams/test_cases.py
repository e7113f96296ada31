"""The cases that ship with ready-made teams, without a model."""

import json
from pathlib import Path

from tests.in_process import InProcess


def test_the_ready_made_teams_are_evaluated_out_of_the_box(
    in_process: InProcess, tmp_path: Path
) -> None:
    names = ("competitors", "experts", "launch", "research", "review")
    shown = in_process("eval", *names, "--json", "--home", str(tmp_path))
    assert shown.status == 0, shown.err
    teams = json.loads(shown.out)["teams"]
    for team in teams:
        assert (team["engine"], team["scores"]["passed"]["mean"]) == ("deterministic", 1), team
    assert [len(team["trials"]) for team in teams] == [3, 8, 4, 7, 3]
    again = in_process("eval", "review", "--fault", "1=timeout", "--home", str(tmp_path))
    assert again.status == 2
    unmodelled = in_process("eval", "review", "--model", "none", "--json", "--home", str(tmp_path))
    assert unmodelled.status == 0, unmodelled.err
    assert (
        "workers alone, faults and tools are not for a team of a command, as review is" in again.err
    )
