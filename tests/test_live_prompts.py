"""`make prompts` asks each prompt once, and says what came of it."""

import asyncio
from pathlib import Path

import pytest
from benchmarks.live_prompts.__main__ import chosen
from benchmarks.live_prompts.cases import CASES
from benchmarks.live_prompts.kept import Exchanges
from benchmarks.live_prompts.measure import Measured, measured, table

from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json

MODEL = "openai-chat:scripted"
RECORDED = Path(__file__).parent / "recordings" / "prompts"
"""A folder for each model: its exchanges, and what came of each case."""


def ask(exchanges: Exchanges, names: list[str], model: str = MODEL) -> list[Measured]:
    async def found() -> list[Measured]:
        return [one async for one in measured(model, exchanges, names)]

    return asyncio.run(found())


def test_an_exchange_whose_prompt_is_unchanged_is_not_asked_again(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    names = chosen([], 1)
    first = ask(Exchanges(tmp_path / "kept.jsonl"), names)
    asked = model_server.stats().requests

    again = ask(Exchanges(tmp_path / "kept.jsonl"), names)

    assert asked >= len(names) == 19
    assert model_server.stats().requests == asked
    assert table(again) == table(first)


@pytest.mark.parametrize(
    ("workers", "came"),
    [
        (["analyst"], "planner: ahead 1: at once; right"),
        (["writer"], "planner: ahead 1: at once; wrong workers"),
        (["nobody", "analyst"], "planner: ahead 1: after 1 repairs; right"),
        (["nobody"], "planner: ahead 1: given up: "),
    ],
)
def test_a_case_is_usable_at_once_or_after_repairs_or_given_up(
    model_server: ScriptedServer, tmp_path: Path, workers: list[str], came: str
) -> None:
    rules: list[Json] = [
        {"match": {"step": step}, "reply": {"json": {"tasks": [
            {"id": "a", "worker": name, "intent": "Compute the sales in Germany in March"}]}}}
        for step, name in enumerate(workers * (3 // len(workers)), start=1)
    ]  # fmt: skip
    model_server.configure(script=rules)
    (found,) = ask(Exchanges(tmp_path / "kept.jsonl"), ["planner: ahead 1"])
    assert found.line.startswith(came)


@pytest.mark.parametrize("folder", sorted(RECORDED.iterdir()), ids=lambda one: one.name)
def test_what_a_real_model_answered_is_understood_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("LEADHAND_ANSWERS", "native")
    lines = (folder / "cases.txt").read_text(encoding="utf-8").splitlines()
    exchanges = Exchanges(folder / "exchanges.jsonl", by_position=True)
    names = [name for line in lines for name in CASES if line.startswith(f"{name}: ")]
    found = ask(exchanges, names, "openai-chat:recorded")
    assert [one.line for one in found] == lines
