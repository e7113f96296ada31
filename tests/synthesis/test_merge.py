"""The strategies by code: side by side, or the surest of several attempts."""

import asyncio

from leadhand.contracts.answer import Source
from leadhand.synthesis.merge import Merge, combine
from tests.synthesis.results import gave, missing, plan_of
from tests.test_house import WITHOUT_MODELS, loaded_by


def test_reduce_by_code_is_merge() -> None:
    results = [gave("a", "one", confidence=80, evidence=["a.md:1"]), gave("b", 2), missing("c")]
    merged = combine(plan_of(results), results)
    assert merged == combine(plan_of(results, synthesis="reduce"), results)
    assert merged.answer == "## a (worker)\n\none\n\n## b (worker)\n\n    2"
    assert merged.output == {"a": "one", "b": 2}
    assert (merged.confidence, merged.sources) == (80, (Source(task_id="a", ref="a.md:1"),))


def test_select_by_code_takes_the_surest_result_word_for_word() -> None:
    results = [
        gave("a", "one", confidence=60),
        gave("b", "two\n", confidence=90, evidence=["b.md:1"]),
        gave("c", "three", confidence=90),
        missing("d"),
    ]
    selected = asyncio.run(Merge().synthesize(plan_of(results, synthesis="select"), results))
    assert selected.answer.startswith("two\n\n\n*Chosen from 3 results: b, ")
    assert (selected.output, selected.confidence) == ("two\n", 90)
    assert selected.sources == (
        Source(task_id="b", ref="b.md:1"),
        Source(task_id="a", ref="not chosen"),
        Source(task_id="c", ref="not chosen"),
    )


def test_select_by_code_prefers_what_is_completed_and_then_what_comes_first() -> None:
    results = [
        gave("a", "half", confidence=99, status="failed", why="out of steps"),
        gave("b", "whole"),
        gave("c", "too"),
    ]
    selected = combine(plan_of(results, synthesis="select"), results)
    assert selected.output == "whole"
    assert "no worker said how sure it is" in selected.answer


def test_a_choice_between_nothing_is_empty_and_of_one_is_that_one() -> None:
    nothing = [missing("a"), missing("b")]
    assert combine(plan_of(nothing, synthesis="select"), nothing).answer == ""
    one = [missing("a"), gave("b", "only")]
    assert combine(plan_of(one, synthesis="select"), one).answer == "only"


def test_synthesis_without_a_model_loads_no_model_library() -> None:
    loaded = loaded_by(WITHOUT_MODELS)
    assert "leadhand.synthesis.merge" in loaded
    assert loaded.isdisjoint({"pydantic_ai", "leadhand.synthesis.model", "leadhand.models.calls"})
