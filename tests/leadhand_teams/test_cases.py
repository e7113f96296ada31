"""The cases that ship with ready-made teams, without a model."""

import json
from pathlib import Path

from tests.in_process import InProcess


def test_the_ready_made_teams_are_evaluated_out_of_the_box(
    in_process: InProcess, tmp_path: Path
) -> None:
    shown = in_process("eval", "research", "review", "--json", "--home", str(tmp_path))
    assert shown.status == 0, shown.err
    research, review = json.loads(shown.out)["teams"]
    for team in (research, review):
        assert (team["engine"], team["scores"]["passed"]["mean"]) == ("deterministic", 1), team
    assert len(research["trials"]) + len(review["trials"]) == 8
    again = in_process("eval", "review", "--fault", "1=timeout", "--home", str(tmp_path))
    assert again.status == 2
    unmodelled = in_process("eval", "review", "--model", "none", "--json", "--home", str(tmp_path))
    assert unmodelled.status == 0, unmodelled.err
    assert (
        "workers alone, faults and tools are not for a team of a command, as review is" in again.err
    )
