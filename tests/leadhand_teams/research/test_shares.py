"""A table that takes long leaves time for the others (F43)."""

import subprocess
from pathlib import Path

import pytest

from leadhand.engine.current_attempt import attempt_time
from leadhand.tools.files import Inputs
from leadhand.tools.sql import SqlTools
from leadhand.tools.sql.database import in_new_process
from leadhand.tools.sql.messages import SqlRequest
from leadhand_teams.research.table_profile import profile_table

LEFT_S = 600.0


@pytest.mark.parametrize("hangs", ["load", "select"])
def test_a_table_whose_requests_hang_leaves_time_for_the_others(tmp_path: Path, hangs: str) -> None:
    """F43: each request and each file has a share of the time, and large ones are last."""
    (tmp_path / "a_slow.csv").write_text("year,sales\n" + "2024,1\n" * 1_000)
    (tmp_path / "b.csv").write_text("year,sales\n2023,1\n2024,2\n")
    (tmp_path / "c.csv").write_text("year,costs\n2023,1\n2024,2\n")
    had: list[tuple[str, bool, float]] = []

    def answer(request: SqlRequest, folder: Path, timeout_s: float) -> tuple[int, bytes]:
        about = [request.get("table", ""), *request.get("statements", [])]
        slow = any("a_slow" in one for one in about)
        had.append((request["job"], slow, timeout_s))
        if slow and request["job"] == hangs:
            raise subprocess.TimeoutExpired("child", timeout_s)
        return in_new_process(request, folder, timeout_s)

    inputs = Inputs.of([tmp_path])
    with (
        attempt_time(LEFT_S),
        SqlTools(inputs, query_timeout_s=LEFT_S, load_timeout_s=LEFT_S, answer=answer) as tools,
    ):
        profiles = {one.file: profile_table(tools, one) for one in tools.tables}
        broken = [one.name for one in tools.broken]
    assert [slow for job, slow, _ in had if job == "load"] == [False, False, True]
    limits = {"load": LEFT_S / 2, "select": LEFT_S / 10}
    assert all(0 < timeout_s <= limits[job] for job, _, timeout_s in had)
    assert (
        min(timeout_s for job, slow, timeout_s in had if job == "load" and not slow) <= LEFT_S / 6
    )
    assert broken == (["a_slow.csv"] if hangs == "load" else [])
    assert profiles["b.csv"].columns
    assert profiles["c.csv"].columns
    if hangs == "select":
        assert "all figures: it was not done after" in profiles["a_slow.csv"].left_out[0]
        assert [*profiles] == ["a_slow.csv", "b.csv", "c.csv"]
