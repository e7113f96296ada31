"""Finds passages for a question, without a model."""

from pathlib import Path

from leadhand.tools.files.documents import Documents
from leadhand.tools.files.index import MAX_PER_FILE, SearchIndex, best_passages
from leadhand.tools.files.inputs import Inputs
from leadhand.tools.files.passage import Passage

QUESTION = "How much did the price of solar modules fall?"


def find_passages(inputs: Inputs, question: str, limit: int) -> list[Passage]:
    """The best passages of `inputs`, by an index of their own."""
    return best_passages(SearchIndex(Documents(inputs)), question, limit)


def test_the_passage_that_answers_comes_first_with_its_place_and_score(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# Wind\n\nMuch did change.\n\n# Solar\n\nThe price fell by 90 %."
    )
    (tmp_path / "b.txt").write_text("How did the much of it, and the of?\n")
    first, *rest = find_passages(Inputs.of([tmp_path]), QUESTION, 5)
    assert (first.name, first.place) == ("a.md", "[a.md:5]")
    assert "90 %" in first.text
    assert all(first.score >= one.score > 0 for one in rest)
    # Words such as "how" and "much of" say nothing of what is asked.
    assert "b.txt" not in {one.name for one in rest}


def test_what_repeats_a_better_passage_is_left_out(tmp_path: Path) -> None:
    text = "The price of solar modules fell by ninety percent within a decade, it is said"
    (tmp_path / "a.txt").write_text(f"{text}.\n")
    (tmp_path / "b.txt").write_text(f"{text.upper()} often!\n")
    (tmp_path / "c.txt").write_text("Solar power is cheap in the desert.\n")
    found = find_passages(Inputs.of([tmp_path]), QUESTION, 5)
    assert [one.name for one in found] == ["a.txt", "c.txt"]


def test_no_file_gives_more_than_a_few(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        parts = [f"# Part {n}\n\nSolar in {name} and {n * 7} more{n} of it{n}." for n in range(9)]
        (tmp_path / name).write_text("\n\n".join(parts))
    names = [one.name for one in find_passages(Inputs.of([tmp_path]), "solar", 20)]
    assert [names.count(name) for name in ("a.md", "b.md")] == [MAX_PER_FILE] * 2


def test_the_same_question_gives_the_same_passages_and_no_more_than_asked(tmp_path: Path) -> None:
    for n in range(9):
        (tmp_path / f"{n}.txt").write_text(f"Solar plant number{n} of town{n} with river{n}.\n")
    inputs = Inputs.of([tmp_path])
    found = find_passages(inputs, "solar plants", 4)
    assert len(found) == 4
    assert found == find_passages(inputs, "solar plants", 4)


def test_no_files_and_no_words_give_nothing(tmp_path: Path) -> None:
    assert find_passages(Inputs.of([]), QUESTION, 5) == []
    assert find_passages(Inputs.of([tmp_path]), "?!", 5) == []
