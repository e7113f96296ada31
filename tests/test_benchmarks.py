"""The comparisons with peers: what was measured is shown, and targets can be missed."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import cast
from xml.etree import ElementTree as ET

import pytest
from benchmarks import journal, model_alone, reach, stepwise
from benchmarks import peer_targets as known
from benchmarks.chart import drawn, tick
from benchmarks.peer_driver import Driver, common_of
from benchmarks.peer_report import printed
from benchmarks.peer_results import Cell, Results, Row, Sample
from benchmarks.peer_targets import targets
from benchmarks.peers import Peers, cells

from leadhand.testing import ScriptedServer

SVG = "{http://www.w3.org/2000/svg}"
CPU_MS = {
    known.FLOOR: 3.0,
    known.SAME_TRANSPORT: 2.0,
    known.PLAIN: 2.5,
    known.TYPED: 4.0,
    known.LANGGRAPH: 5.0,
}


def sample(cell: Cell, **changes: object) -> Sample:
    figures: dict[str, object] = {
        "ok": True,
        "wall_s": cell.tasks / 1_000,
        "cpu_ms_a_task": CPU_MS.get(cell.variant, 2.0),
        "peak_mb": 60.0,
        "growth_mb": 5.0,
        "requests": cell.tasks + 2,
        "prompt_tokens": 70 * cell.tasks,
        "max_concurrency": 64,
        "critical_path_s": 1.0,
        "makespan_s": 1.0,
        "sequential_s": cell.tasks / 1_000,
    }
    return Sample.model_validate(figures | changes)


def results(changes: Mapping[str, object] | None = None, *, rounds: int = 3) -> Results:
    """A comparison in which `leadhand_plain` differs from the rest by `changes`."""
    rows: list[Row] = []
    for cell in cells((10, 100, 1_000)):
        own = (changes or {}) if cell.variant == known.PLAIN else {}
        own = {"wall_s": 1.0} if cell.variant == known.GRAPH else own
        rows.append(Row(cell=cell, samples=(sample(cell, **own),) * rounds))
    versions = {"floor": "openai 9.9", "langgraph": "langgraph 9.9, openai 9.9"}
    return Results(machine="<a machine>", versions=versions, rounds=rounds, rows=tuple(rows))


def missed(measured: Results) -> set[str]:
    return {target.what for target in targets(measured) if not target.met}


def test_figures_within_every_target_meet_them_all() -> None:
    measured = results()
    assert missed(measured) == set()
    # Requests of two variants at six sizes and one more; three ratios at six; three at N = 1,000
    # at two latencies each; the graph twice; the sequential time.
    assert len(targets(measured)) == 13 + 3 * 6 + 3 * 2 + 2 + 1


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"requests": 5}, "requests - N, leadhand_plain"),
        ({"prompt_tokens": 80_000}, "prompt tokens / floor"),
        ({"cpu_ms_a_task": 3.1}, "CPU a task / floor"),
        ({"cpu_ms_a_task": 3.9}, "CPU a task / LangGraph"),
        ({"cpu_ms_a_task": 2.8}, "CPU a task / floor, many"),
        ({"wall_s": 1.26}, "wall / floor"),
        ({"peak_mb": 161.0}, "peak memory - floor, MB"),
        ({"sequential_s": 0.023}, "sequential_s / wall of a sequential run"),
        ({"sequential_s": 0.017}, "sequential_s / wall of a sequential run"),
    ],
)
def test_a_figure_beyond_its_target_misses_it(changes: dict[str, object], what: str) -> None:
    measured = results(changes)
    assert what in missed(measured)
    lines = [line for line in printed(measured).splitlines() if line.startswith(what)]
    assert any(line.endswith("MISSED") for line in lines)


def test_one_request_too_many_in_one_round_is_not_outvoted() -> None:
    measured = results()
    rows = list(measured.rows)
    place = next(i for i, row in enumerate(rows) if row.cell.variant == known.PLAIN)
    first, *others = rows[place].samples
    odd = first.model_copy(update={"requests": first.requests + 1})
    rows[place] = rows[place].model_copy(update={"samples": (odd, *others)})
    assert missed(measured.model_copy(update={"rows": tuple(rows)})) == {
        "requests - N, leadhand_plain"
    }


def test_peers_are_compared_within_a_round() -> None:
    """A machine that slows down for a whole round changes no ratio."""
    rows: list[Row] = []
    for row in results(rounds=1).rows:
        (one,) = row.samples
        slow = one.model_copy(update={"cpu_ms_a_task": 7 * one.cpu_ms_a_task})
        rows.append(row.model_copy(update={"samples": (one, slow, one)}))
    measured = results().model_copy(update={"rows": tuple(rows)})
    ratios = [one.got for one in targets(measured) if one.what == "CPU a task / floor"]
    assert len(ratios) == 6
    for got in ratios:
        assert got.least == pytest.approx(1.25)
        assert got.most == pytest.approx(1.25)


def test_the_chart_draws_every_figure_from_zero_and_to_scale() -> None:
    root = ET.fromstring(drawn(results()))
    panels = root.findall(f"{SVG}g")
    heads = [panel.findtext(f"{SVG}text") or "" for panel in panels]
    assert [head.partition(":")[0] for head in heads] == [
        "N = 100",
        "N = 100",
        "N = 1,000",
        "N = 1,000",
    ]
    for panel in panels[::2]:
        bars = panel.findall(f"{SVG}rect")
        widths = [float(bar.attrib["width"]) for bar in bars]
        (zero,) = {bar.attrib["x"] for bar in bars}
        axis = panel.find(f"{SVG}line[@class='axis']")
        assert axis is not None
        assert float(axis.attrib["x1"]) == float(zero)
        wanted = [
            CPU_MS[name]
            for name in (known.SAME_TRANSPORT, known.PLAIN, known.TYPED, known.LANGGRAPH)
        ]
        scales = [width / value for width, value in zip(widths, wanted, strict=True)]
        assert scales == pytest.approx([scales[0]] * 4, rel=0.01)


def test_the_chart_needs_nothing_else_and_tells_its_figures_in_words() -> None:
    text = drawn(results())
    root = ET.fromstring(text)
    title = root.findtext(f"{SVG}title") or ""
    assert "leadhand 2.50" in title
    assert "LangGraph, Send graph 5.00" in title
    assert "prefers-color-scheme: dark" in text
    assert "&lt;a machine&gt;" in text
    assert "href" not in text
    assert "url(" not in text


def test_bars_of_a_size_that_was_not_measured_are_left_out() -> None:
    measured = results()
    small = tuple(row for row in measured.rows if row.cell.tasks <= 100)
    root = ET.fromstring(drawn(measured.model_copy(update={"rows": small})))
    assert len(root.findall(f"{SVG}g")) == 2


@pytest.mark.parametrize("most", [0.0, 0.004, 0.9, 1.0, 5.0, 5.1, 17.0, 12_345.0])
def test_an_axis_has_at_most_five_round_ticks(most: float) -> None:
    step = tick(most)
    assert step > 0
    assert most <= 5 * step
    assert f"{step:e}"[0] in "125"


def test_a_round_takes_everyone_in_turn_before_it_grows() -> None:
    sizes = [(cell.tasks, cell.latency_ms) for cell in cells((10, 100))]
    changes = [after for before, after in pairwise(sizes) if before != after]
    assert [sizes[0], *changes] == [(10, 0), (10, 100), (100, 0), (100, 100), (50, 0), (20, 100)]


_Body = dict[str, list[dict[str, str]]]
COMMON = """
KINDS = ("one", "two")
WORKER_PROMPT = {kind: f"You are WORKER {kind}." for kind in KINDS}
PLANNER_PROMPT = "You are the PLANNER."
SYNTH_PROMPT = "You are the SYNTHESIZER."
REQUEST = "Examine every item."
FINAL_MARK = "DONE"
MODEL = "scripted"

def dag():
    return {
        "a": {"deps": [], "lat_ms": 1, "layer": 0},
        "b": {"deps": ["a"], "lat_ms": 1, "layer": 1},
    }
"""


@pytest.fixture(name="driver")
def _driver(tmp_path: Path, model_server: ScriptedServer) -> Driver:
    """The driver with a harness of two kinds of worker, and a model that plays its roles."""
    (tmp_path / "common.py").write_text(COMMON, encoding="utf-8")
    tasks = [{"id": i, "worker": "two", "task": f"Examine item {i}."} for i in range(4)]
    texts = {"PLANNER": json.dumps({"tasks": tasks}), "WORKER": "Fine.", "SYNTHESIZER": "DONE: 4"}
    rules = [{"match": {"system": role}, "reply": {"text": said}} for role, said in texts.items()]
    model_server.reset(script=rules)
    return Driver(common_of(tmp_path))


def run_variant(driver: Driver, name: str, tasks: int) -> str:
    run = cast("Callable[[int], Awaitable[str]]", driver.variants()[name]["run"])

    async def answered() -> str:
        return await run(tasks)

    return asyncio.run(answered())


@pytest.mark.parametrize("name", [known.PLAIN, known.TYPED, known.SERIAL])
def test_the_driver_takes_one_request_a_task_one_to_plan_and_one_to_answer(
    driver: Driver, model_server: ScriptedServer, name: str
) -> None:
    assert run_variant(driver, name, 4) == "DONE: 4"
    stats = model_server.stats()
    (metrics,) = driver.metrics
    # A connection that a busy machine did not make in time counts as a request that never arrived.
    assert metrics.requests >= stats.requests == 4 + 2
    if name == known.SERIAL:
        assert stats.max_concurrency == 1


def test_the_driver_sends_the_peers_prompts_and_no_more(
    driver: Driver, model_server: ScriptedServer
) -> None:
    run_variant(driver, known.PLAIN, 4)
    bodies = [cast("_Body", kept["body"]) for kept in model_server.stats().bodies]
    told = [[message["content"] for message in body["messages"]] for body in bodies]
    assert told[0] == ["You are the PLANNER.", "Examine every item."]
    assert sorted(told[1:5])[0] == ["You are WORKER two.", "Examine item 0."]
    assert told[5][0] == "You are the SYNTHESIZER."
    assert told[5][1].count("Fine.") == 4


def test_the_driver_runs_the_graph_without_planner_and_synthesizer(
    driver: Driver, model_server: ScriptedServer
) -> None:
    assert run_variant(driver, known.GRAPH, 0) == "DONE"
    assert model_server.stats().requests == 2


def test_a_run_that_lost_a_task_is_no_measurement(driver: Driver) -> None:
    with pytest.raises(SystemExit, match="4 of 5 tasks"):
        run_variant(driver, known.PLAIN, 5)


def test_without_peers_leadhand_is_measured_alone(model_server: ScriptedServer) -> None:
    assert Peers.found({"LEADHAND_PEERS": "nowhere"}) is None
    line = model_alone.measure(model_server, tasks=5, latency_ms=0, rounds=1)
    assert line.split()[0] == "5"
    assert line.split()[-1] == "7"


def test_what_keeping_costs_can_miss_every_target_of_its_own() -> None:
    parallel = journal.Row(
        "leadhand", "independent", 1_000, 0.3, 0.09, 0.08, None, open_bytes=9e9, closed_bytes=500.0
    )
    chain = replace(parallel, shape="chain", added_wall_ms=5.0, syncs=2.0)
    assert journal.missed([parallel, chain]) == []
    slow = replace(parallel, added_wall_ms=0.11)
    wide = replace(chain, syncs=2.1, closed_bytes=2_100.0)
    lines = journal.missed([slow, wide])
    whats = ["ms added a task", "syncs a task", "bytes a task, chain"]
    assert [line.split(": ")[1] for line in lines] == whats
    peers = [replace(one, tool="DBOS") for one in (slow, wide)]
    assert journal.missed(peers) == []
    assert journal.shown([slow, wide]).count("\n") == 2


def test_keeping_is_measured_beside_the_same_with_nothing_kept() -> None:
    sample = journal.run(Path(sys.executable), journal.OURS, "chain", 3, kept=True)
    assert sample.wall_s > 0
    assert sample.open_bytes > sample.closed_bytes > 0
    assert journal.run(Path(sys.executable), journal.OURS, "chain", 3, kept=False).open_bytes == 0


def test_what_a_stepwise_planner_reads_grows_with_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADHAND_STEPS", "4")
    with ScriptedServer(script="benchmarks.stepwise:reply") as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        found = stepwise.measured(4)
    assert found["calls"] == 4 + 5 + 1
    assert found["last"] < 1_500, "four results of 1,000 tokens were not read whole"


def test_a_run_of_one_task_reaches_no_more_than_one_reader_can_follow() -> None:
    measured = reach.measure()

    assert measured.files <= reach.MOST_FILES
    assert measured.moves <= reach.MOST_MOVES
