"""A new kind of planner is an entry in a table: nothing else asks which kind it is."""

import importlib
import re
from pathlib import Path
from typing import get_args

import leadhand
from leadhand.contracts.planner_kinds import KINDS, PlannerKind

SOURCE = Path(leadhand.__file__).parent
COMPARED = re.compile(r"(planner|role)\.kind\s*(==|!=|in\b|not in\b)")


def test_the_table_has_every_kind() -> None:
    assert [*KINDS] == [None, *get_args(PlannerKind)]


def test_what_a_kind_names_makes_its_planner() -> None:
    for maker in {kind.maker for kind in KINDS.values()} - {None}:
        module, _, name = (maker or "").partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_a_setting_belongs_to_one_kind() -> None:
    own = [name for kind in KINDS.values() for name in kind.settings]
    assert len(own) == len({*own})


def test_no_other_module_asks_which_kind_a_planner_is() -> None:
    found = [
        f"{file.relative_to(SOURCE)}: {line.strip()}"
        for file in SOURCE.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if COMPARED.search(line)
    ]
    assert found == []
