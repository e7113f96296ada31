"""Inputs that a model's tools could not read are gaps of the answer, each file once."""

from pathlib import Path

import pytest

from leadhand.tools.errors import ToolCallError
from leadhand.tools.factory import ToolFactory
from leadhand.tools.files.inputs import Inputs


@pytest.fixture
def shed(tmp_path: Path) -> ToolFactory:
    (tmp_path / "good.txt").write_text("Prices went up.")
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    (tmp_path / "photo.bin").write_bytes(bytes(range(256)))
    (tmp_path / ".env").write_text("KEY=1")
    (tmp_path / "empty.csv").write_text("")
    return ToolFactory(Inputs.of([tmp_path]), {})


def use(shed: ToolFactory, tool: str, *arguments: str) -> str:
    made = shed.make(tool)
    assert made is not None
    return str(made(*arguments))


def test_nothing_is_missing_as_long_as_no_tool_was_used(shed: ToolFactory) -> None:
    shed.make("search_files")
    assert shed.unread() == ()


def test_what_a_search_cannot_see_is_named_once_and_a_hidden_file_is_not(shed: ToolFactory) -> None:
    use(shed, "search_files", "prices")
    assert [line.split(":")[0] for line in shed.unread()] == ["photo.bin", "broken.pdf"]
    use(shed, "search_files", "more")
    assert shed.unread() == ()


def test_so_is_a_file_that_was_read_in_vain_and_a_table_that_is_none(shed: ToolFactory) -> None:
    with pytest.raises(ToolCallError):
        use(shed, "read_file", "broken.pdf")
    use(shed, "list_tables")
    assert [line.split(":")[0] for line in shed.unread()] == [
        *("photo.bin", "broken.pdf", "empty.csv")
    ]
