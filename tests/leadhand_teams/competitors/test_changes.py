"""What changed between snapshots: renamed headings, moved rows and changed units are no changes."""

from collections.abc import Iterable, Mapping

from leadhand_teams.competitors.changes import changes
from leadhand_teams.competitors.output import CompetitorFact, MarketChange
from leadhand_teams.competitors.sources import listed, stated
from leadhand_teams.shared.reading import Text


def rows(
    table: Mapping[str, Mapping[str, str]], *, competitor: str = "acme", date: str = "2025-01-01"
) -> list[CompetitorFact]:
    return [
        CompetitorFact(
            competitor=competitor, item=item, attribute=attribute, value=value,
            ref=f"{date}.csv:{n}", date=date,
        )
        for n, (item, values) in enumerate(table.items(), start=2)
        for attribute, value in values.items()
    ]  # fmt: skip


def page(text: str) -> list[CompetitorFact]:
    return list(stated(Text("acme.md", text), "acme"))


def entries(line: str) -> list[CompetitorFact]:
    return list(listed(Text("list.md", line)))


def shown(found: Iterable[MarketChange]) -> set[tuple[str, str | None, str | None, str | None]]:
    return {(one.kind, one.item, one.before, one.after) for one in found}


PRICES = {
    "small": {"input": "3.00", "output": "9.00"},
    "medium": {"input": "5.00", "output": "15.00"},
    "large": {"input": "8.00", "output": "24.00"},
}


def test_rows_that_moved_changed_nothing() -> None:
    assert not list(changes(rows(PRICES), rows(dict(reversed(PRICES.items())))))


def test_a_number_written_in_another_way_has_not_changed() -> None:
    before = rows({"small": {"limit": "5000", "size": "5 GB"}})
    assert not list(changes(before, rows({"small": {"limit": "5,000", "size": "5GB"}})))


def test_a_price_that_changed_is_found_with_its_places() -> None:
    after = {**PRICES, "large": {"input": "6.00", "output": "24.00"}}
    [found] = changes(rows(PRICES), rows(after, date="2025-06-01"))
    assert (found.kind, found.attribute, found.before, found.after) == (
        "changed",
        "input",
        "8.00",
        "6.00",
    )
    assert (found.ref_before, found.ref_after) == ("2025-01-01.csv:4", "2025-06-01.csv:4")


def test_a_renamed_column_is_reported_once_and_its_values_compared() -> None:
    after = {
        item: {"Prompt price": values["input"], "output": values["output"]}
        for item, values in PRICES.items()
    }
    after["large"]["Prompt price"] = "9.99"
    found = changes(rows(PRICES), rows(after))
    assert {(one.kind, one.before, one.after) for one in found} == {
        ("renamed", "input", "Prompt price"),
        ("changed", "8.00", "9.99"),
    }


def test_prices_in_another_unit_have_not_changed() -> None:
    after = {
        item: {key: str(float(value) / 1000) for key, value in values.items()}
        for item, values in PRICES.items()
    }
    assert not list(changes(rows(PRICES), rows(after)))


def test_a_model_with_another_version_in_its_name_is_another_model() -> None:
    before = rows({"chat-2024-05-13": {"input": "5", "output": "15", "context": "8"}})
    after = rows({"chat-2024-08-06": {"input": "5", "output": "15", "context": "8"}})
    assert {one.kind for one in changes(before, after)} == {"added", "removed"}


def test_a_competitor_under_a_new_name_has_not_vanished() -> None:
    text = "Free secure mail with end-to-end encryption, no ads and no tracking, 1 GB of storage"
    before = entries(f"* [Oldname](https://oldname.com) - {text}")
    after = entries(f"* [New](https://www.new.io/) — {text}.")
    assert [(one.kind, one.before, one.after) for one in changes(before, after)] == [
        ("renamed", "Oldname", "New")
    ]


def test_two_short_descriptions_are_alike_by_chance() -> None:
    before = entries("* [A](https://a.com) - Free for public projects")
    after = entries("* [B](https://b.com) - Free for public projects")
    assert {one.kind for one in changes(before, after)} == {"added", "removed"}


def test_a_plan_of_a_page_under_a_new_name_keeps_its_price() -> None:
    before = page("## Starter\n$12 per user per month\n- Shared inbox\n- No API access\n")
    after = page("## Essentials\n$144 per user per year\n- Shared inbox\n- No API access\n")
    assert shown(changes(before, after)) == {("renamed", "Starter", "Starter", "Essentials")}


def test_a_feature_that_a_page_no_longer_has_was_removed() -> None:
    before = page("## Team\n$29 per month\n- Shared inbox\n- Audit log\n")
    after = page("## Team\n$29 per month\n- Audit logs\n- Shared inbox\n- 24/7 support\n")
    found = changes(before, after)
    assert [(one.kind, one.attribute) for one in found] == [("added", "24/7 support")]


def test_the_last_feature_of_a_plan_can_be_removed() -> None:
    before = page("## Team\n$29 per month\n- Audit log\n")
    found = changes(before, page("## Team\n$29 per month\n"))
    assert [(one.kind, one.attribute) for one in found] == [("removed", "Audit log")]


def test_numbers_in_words_are_numbers() -> None:
    before = entries("* [A](https://a.com) - Free for 10 users, 1 project")
    assert not list(
        changes(before, entries("* [A](https://a.com) - Free for ten users, one project"))
    )
    found = changes(before, entries("* [A](https://a.com) - Free for 5 users, one project"))
    assert [(one.attribute, one.before, one.after) for one in found] == [
        ("users", "10 users", "5 users")
    ]
