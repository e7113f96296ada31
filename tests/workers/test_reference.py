"""References to functions that another process can import; others are refused with a reason."""

import functools
import math
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from leadhand.contracts.outcome import Handoff
from leadhand.errors import InputError, LeadhandError
from leadhand.workers.reference import SCRIPT, FunctionReference
from tests.workers import worker_samples as samples


def _shorten(handoff: Handoff) -> str:
    return handoff.intent[:3]


def doubled(function: Callable[[Handoff], str]) -> Callable[[Handoff], str]:
    @functools.wraps(function)
    def work(handoff: Handoff) -> str:
        return function(handoff) * 2

    return work


@doubled
def decorated(handoff: Handoff) -> str:
    return handoff.intent


shorten_twice = doubled(_shorten)


def refusal(function: Callable[..., object]) -> str:
    with pytest.raises(InputError) as refused:
        FunctionReference.of(function)
    assert isinstance(refused.value, LeadhandError)
    return str(refused.value)


def test_a_function_is_referred_to_by_module_and_name() -> None:
    reference = FunctionReference.of(samples.echo)
    assert reference == FunctionReference(function=f"{samples.__name__}:echo", keywords={})
    assert reference.load() is samples.echo


def test_methods_without_an_instance_and_decorated_functions_can_be_found() -> None:
    assert (
        FunctionReference.of(samples.Billing.look_up).function
        == f"{samples.__name__}:Billing.look_up"
    )
    assert FunctionReference.of(decorated).function == f"{__name__}:decorated"


def test_a_wrapped_function_is_found_under_the_name_that_it_is_kept_by() -> None:
    reference = FunctionReference.of(shorten_twice)
    assert reference.function == f"{__name__}:shorten_twice"
    assert reference.load() is shorten_twice


def test_keyword_arguments_of_a_partial_are_part_of_the_reference() -> None:
    bound = functools.partial(samples.with_option, option={"a": [1, 2.5, None, "b"]})
    reference = FunctionReference.of(bound)
    assert reference.keywords == {"option": {"a": [1, 2.5, None, "b"]}}
    assert reference.load() is samples.with_option


def test_lambdas_closures_and_local_functions_are_refused_with_what_to_do() -> None:
    def local(handoff: Handoff) -> str:
        return handoff.intent

    def shout(_: Handoff) -> str:
        return "!"

    unnamed: list[Callable[[Handoff], str]] = [
        local, lambda handoff: handoff.intent, doubled(shout), functools.partial(local)
    ]  # fmt: skip
    for function in unnamed:
        message = refusal(function)
        assert "can't run in a process of its own" in message
        assert "define it with `def` at the top level of a module" in message


def test_methods_of_an_instance_are_refused() -> None:
    class Clerk:
        def work(self, handoff: Handoff) -> str:
            return handoff.intent

    assert "can't run in a process of its own" in refusal(Clerk().work)


def test_positional_arguments_of_a_partial_are_refused() -> None:
    assert "bind them by keyword" in refusal(
        functools.partial(samples.echo, samples.make_handoff())
    )


@pytest.mark.parametrize("value", [object(), Path("a"), (1, 2), {1: 2}, math.nan, b"bytes", {3}])
def test_keyword_arguments_that_json_would_change_are_refused(value: object) -> None:
    message = refusal(functools.partial(samples.with_option, option=value))
    assert "its argument 'option' must be plain JSON data" in message
    assert type(value).__name__ in message


def test_what_is_gone_when_it_is_loaded_is_an_error_with_its_name() -> None:
    with pytest.raises(TypeError, match=f"{samples.__name__}:nobody is not a function"):
        FunctionReference(function=f"{samples.__name__}:nobody", keywords={}).load()
    with pytest.raises(ModuleNotFoundError):
        FunctionReference(function="no_such_module_here:f", keywords={}).load()


def test_a_script_is_loaded_once_and_under_another_name_than_main(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("names = [__name__]\ndef work(handoff): return names\n")
    reference = FunctionReference(function=f"{SCRIPT}:work", script=str(script), keywords={})
    try:
        assert reference.load()(None) == [SCRIPT]
        script.unlink()
        assert reference.load()(None) == [SCRIPT]
    finally:
        del sys.modules[SCRIPT]
