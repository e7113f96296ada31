"""Cases are read from YAML, JSON lines and folders."""

from pathlib import Path

import pytest

from leadhand import InputError
from leadhand.evals import Case, read_cases
from leadhand.evals.outputs import states


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_list_of_requests_is_always_read(tmp_path: Path) -> None:
    cases = read_cases(written(tmp_path, "a.yaml", "- request: one\n- two\n"))
    assert [(case.name, case.request) for case in cases] == [("case-1", "one"), ("case-2", "two")]
    lines = '{"request": "one", "name": "x"}\n\n{"request": "two"}\n'
    named = read_cases(written(tmp_path, "a.jsonl", lines))
    assert [case.name for case in named] == ["x", "case-2"]


def test_a_folder_is_read_file_by_file_and_inputs_are_beside_their_file(tmp_path: Path) -> None:
    written(tmp_path, "data.csv", "a,b\n")
    written(tmp_path, "b.yaml", "- {request: two, inputs: [data.csv]}\n")
    written(tmp_path, "a.jsonl", '{"request": "one"}\n')
    one, two = read_cases(tmp_path)
    assert (one.name, two.name) == ("a-1", "b-1")
    assert two.inputs == (str(tmp_path / "data.csv"),)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.yaml", "- {request: a, expect: b}", "case 1: Case: there is no `expect`"),
        ("a.yaml", "- {name: a}", "`request` is missing"),
        ("a.yaml", "request: a", "is no list of cases: write `- request"),
        ("a.yaml", "- [", "is not YAML"),
        ("a.yaml", "[]", "has no cases"),
        ("a.jsonl", "{", "a.jsonl:1 is not JSON"),
        ("a.yaml", "- {request: a, synthesis: {facts: [/(/]}}", "is no regular expression"),
        ("a.yaml", "- {name: x, request: a}\n- {name: x, request: b}", "two cases are called 'x'"),
        ("a.yaml", "- {request: a, inputs: [b.csv]}", "does not exist"),
        ("a.yaml", f"- {'[' * 5_000}", "is not YAML"),
        ("a.yaml", f"- {'9' * 5_000}", "is not YAML: Exceeds the limit"),
        ("a.jsonl", "[" * 100_000, "a.jsonl:1 is not JSON: maximum recursion depth"),
        ("a.jsonl", "9" * 5_000, "a.jsonl:1 is not JSON: Exceeds the limit"),
        ("a.yaml", "- {request: a, synthesis: {forbidden: ['']}}", "`synthesis.forbidden.0` is ''"),
        ("a.yaml", "- {request: a, synthesis: {facts: [[]]}}", "`synthesis.facts.0`"),
    ],
)
def test_what_can_not_be_read_is_named_with_its_place(
    name: str, text: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        read_cases(written(tmp_path, name, text))
    assert why in str(error.value)


def test_no_regular_expression_takes_for_ever() -> None:
    assert not states("a" * 1_000 + "!", "/(a+)+$/")
    assert states("17 invoices\nin May", "/^17 .*\\s+in may$/")


def test_a_case_for_routing_or_plan_alone_needs_no_work() -> None:
    case = Case.model_validate({"request": "x", "routing": {"primary": None}})
    assert case.ends_with_plan
    whole = Case.model_validate({"request": "x", "routing": {"primary": None}, "answer": {}})
    assert not whole.ends_with_plan
    assert not Case.model_validate({"request": "x", "workers": [{"worker": "a"}]}).has_whole_run
