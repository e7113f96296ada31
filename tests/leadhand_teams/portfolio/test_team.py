"""The team through the real run: what it orders, refuses, names and plans."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest

import leadhand_teams.portfolio
from leadhand import Answer, InputError, Plan, Result, Supervisor, Task
from leadhand.extension import load
from leadhand.extension.roles import Batch, PlanRequest, TaskResult
from leadhand.testing import ScriptedModel
from leadhand_teams.portfolio.inputs import VOCABULARY
from leadhand_teams.portfolio.output import Rebalanced
from leadhand_teams.portfolio.report import answer as answered
from leadhand_teams.portfolio.report import files
from leadhand_teams.portfolio.work import plan
from tests.in_process import InProcess

FOLDER = Path(leadhand_teams.portfolio.__file__).parent
SAMPLES = [str(path) for path in sorted((FOLDER / "samples").iterdir())]
NOTE = "Bring the portfolio to its target and write a note"
FIGURES = {"yearly_return", "volatility", "sharpe", "max_drawdown"}


@pytest.fixture(scope="module")
def sample() -> Answer:
    return Supervisor(load(FOLDER)).run_sync(NOTE, inputs=SAMPLES)


def test_the_sample_fills_every_promised_list(sample: Answer) -> None:
    found = Rebalanced.model_validate(sample.output)
    assert sample.status == "complete"
    assert found.orders
    assert found.weights
    assert found.scenarios
    assert "volatility from 16.5% to 11.5%, maximum drawdown from 14.3% to 16.4%" in sample.answer
    assert "yearly return goes from 11.5% to 3.6%" in sample.answer
    assert "Sharpe ratio from 0.57 to 0.14" in sample.answer
    for name in ("before", "target", "after"):
        figures = found.measures[name].model_dump(include=FIGURES).values()
        assert len(figures) == len(FIGURES)
        assert None not in figures
    assert all(one.met for one in found.constraints)
    assert "| cash | 5.3 % | 4.8 % | 2.0 % |" in sample.answer
    assert sample.answer.count(VOCABULARY["check"]) == 1


def test_the_note_says_what_decides_changes_and_costs_and_repeats_no_lead(sample: Answer) -> None:
    note = Rebalanced.model_validate(sample.output).note
    says = ("policy.yaml", "fall 20 %, -19.0%", "fees 37.05", "nothing", "prices.csv:335")
    assert [said in line for said, line in zip(says, note, strict=True)] == [True] * len(says)
    assert not any("sell 233 TIDEWIND" in line or "volatility" in line for line in note)


def test_files_for_the_desk_have_orders_figures_and_what_was_saved(sample: Answer) -> None:
    made = files(sample)
    assert set(made) == {"report.html", "report.md", "orders.csv", "weights.svg", "drawdown.svg"}
    lines = str(made["orders.csv"]).splitlines()
    assert lines[0] == "asset,side,shares,price,value,fee,tax,lots,ref"
    assert lines[1].startswith("NORDBANK,sell,10,87.7,877.0,2.88,")
    assert "was done in" in str(made["report.md"])


def test_a_request_gets_the_workers_that_it_needs() -> None:
    def workers(text: str) -> list[str]:
        made = plan(PlanRequest(text, batches={"inputs": (Batch(tuple(SAMPLES)),)}), load(FOLDER))
        return [task.worker for task in made.tasks]

    assert workers("Are these prices stale?") == ["market"]
    assert workers("How risky is it?") == ["market", "risk"]
    assert workers("Bring the portfolio to its target") == ["market", "allocation", "risk"]
    assert workers("Rebalance and write a memo")[-1] == "writer"
    with pytest.raises(InputError, match="hand in a CSV"):
        plan(PlanRequest("Rebalance"), load(FOLDER))


def test_an_amount_of_the_request_that_was_not_used_is_named() -> None:
    request = "How risky are my holdings if I add 7,500?"
    answer = Supervisor(load(FOLDER)).run_sync(request, inputs=SAMPLES)
    (gap,) = answer.gaps
    assert gap.why.startswith("7,500 in the request was not used: amounts and shocks count if")


@pytest.mark.parametrize(
    ("ref", "quote", "kept"),
    [
        ("policy.yaml", '"name": "bank run"', ["It holds. (policy.yaml)"]),
        ("policy.yaml", "a quote of nothing", []),
        ("draft", '"name": "bank run"', []),
    ],
)
def test_a_statement_of_a_model_stays_with_words_and_a_file_that_hold(
    ref: str, quote: str, kept: list[str]
) -> None:
    task = Task(id="risk", worker="risk", intent="Compare the risk")
    added = {"statements": [{"text": "It holds.", "ref": ref, "quote": quote}]}
    scenario = {"name": "bank run", "before": -0.1, "after": -0.05}
    result = Result(output={"policy": "policy.yaml", "scenarios": [scenario], "added": added})
    made = answered(
        Plan(goal="risk", tasks=[task]), [TaskResult(task, "risk", "completed", result, None)]
    )
    assert Rebalanced.model_validate(made.output).statements == kept
    assert made.gaps == ()
    assert kept or "1 statement of the model left out" in made.answer


class Recording(ScriptedModel):
    """Keeps the length of each request."""

    lengths: ClassVar[list[int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.lengths.append(len(await request.aread()))
        return await super().handle_async_request(request)


def test_a_model_is_given_a_few_thousand_tokens_at_most() -> None:
    nothing: dict[str, list[str]] = {"statements": []}
    model = Recording(script=[{"reply": {"json": {"answer": nothing}}}])
    answer = Supervisor(replace(load(FOLDER), model=model.model)).run_sync(NOTE, inputs=SAMPLES)
    assert answer.engine == "model"
    assert max(model.lengths) < 16_000  # characters


def test_the_cases_of_the_team_pass(in_process: InProcess, tmp_path: Path) -> None:
    shown = in_process("eval", str(FOLDER), "--home", str(tmp_path))
    assert shown.status == 0, shown.out + shown.err
