"""How questions about tables are read; nothing is computed."""

import pytest

from leadhand_teams.research.asking import Ask
from leadhand_teams.research.resolving import resolve
from leadhand_teams.research.schema import View, views
from leadhand_teams.shared.grids import csv_tables
from leadhand_teams.shared.tables import DataTable

SALES = """month,region,product,units,unit_price,revenue (EUR)
2024-01,North,Lamp,3,10,30
2024-01,South,Lamp,4,10,40
2024-02,North,Chair,5,20,100
2024-02,South,Desk Lamp,1,20,20
2025-01,North,Lamp,6,12,72
2025-01,South,Lamp,2,12,24
"""
STAFF = "name,dept,role\nAda Brandt,Sales,Head of Sales\nBo Lind,Human Resources,Recruiter\n"


def tables(**texts: str) -> list[View]:
    found: list[DataTable] = []
    for name, text in texts.items():
        found += csv_tables(f"{name}.csv", text)
    return views(found)


SHOP = tables(sales=SALES)


def best(question: str, given: list[View] = SHOP) -> Ask:
    return resolve(question, given)[0]


def parts(ask: Ask) -> tuple[str | None, str | None, str | None, list[str]]:
    """Intent, measure, group and the conditions."""
    measure, group = ask.measure, ask.group
    return (
        ask.intent.name if ask.intent else None,
        measure.name if measure else None,
        group.name if group else None,
        [one.text for one in ask.named],
    )


REVENUE = "revenue (EUR)"


@pytest.mark.parametrize(
    ("question", "intent", "measure", "group", "conditions"),
    [
        ("What is the total revenue?", "figure", REVENUE, None, []),
        ("What was the revenue of lamps?", "cell", REVENUE, None, ["product Lamp"]),
        ("Which region sold the most units?", "highest", "units", "region", []),
        ("What is the highest revenue of a month?", "extreme", REVENUE, None, []),
        ("What is the average revenue by region?", "each", REVENUE, "region", []),
        ("What share of the revenue does the North have?", "share", REVENUE, None,
         ["region North"]),
        ("How many units of the desk lamp were sold?", "figure", "units", None,
         ["product Desk Lamp"]),
        ("Rank the regions by revenue", "ranking", REVENUE, "region", []),
        ("What are the two products with the highest revenue?", "ranking", REVENUE, "product", []),
        ("Which region grew fastest?", "growth", REVENUE, "region", []),
        ("What is the difference in units between North and South?", "difference", "units",
         "region", ["region North or South"]),
        ("How much did revenue fall from 2024 to 2025?", "growth", REVENUE, None, []),
        ("What was the revenue last year?", "cell", REVENUE, None, []),
    ],
)  # fmt: skip
def test_a_question_has_an_intent_a_measure_a_group_and_conditions(
    question: str, intent: str, measure: str, group: str | None, conditions: list[str]
) -> None:
    ask = best(question)
    assert parts(ask) == (intent, measure, group, conditions)
    assert ask.unknown == (["last year"] if "last year" in question else [])


def test_periods_are_named_in_numbers_and_words() -> None:
    def when(question: str) -> list[str]:
        return [one.text for one in best(question).when]

    assert when("How many units were sold in the first quarter of 2025?") == ["Q1 2025"]
    assert when("What was the total revenue from January 2024 to January 2025?") == [
        "January 2024 to January 2025"
    ]
    assert when("What was the revenue in 2024 and 2025?") == ["2024 or 2025"]
    assert when("What was the total revenue since 2025?") == ["since 2025"]
    assert when("What was the revenue in January?") == ["January"]
    compared = best("How did the revenue change from January to February 2024?").compared
    assert compared
    assert [one.label for one in compared] == ["January 2024", "February 2024"]
    ask = best("In which month was the revenue highest?")
    assert (ask.group and ask.group.name, ask.grain) == ("month", "month")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What was the profit of the North?", "profit"),
        ("What was the revenue of the East?", "East"),
        ("How many sofas were sold?", "sofas"),
    ],
)
def test_a_noun_or_name_that_no_table_has_is_unknown(question: str, word: str) -> None:
    found = resolve(question, SHOP)
    assert not found or word in [*found[0].unknown, *found[0].missing]


def test_a_price_is_a_rate_and_rates_are_never_summed() -> None:
    (view,) = SHOP
    roles = {one.name: one.role for one in view.fields}
    assert roles["unit_price"] == "rate"
    assert roles["units"] == roles[REVENUE] == "measure"


def test_parts_of_values_must_occur_in_one_row() -> None:
    staff = tables(staff=STAFF)
    ask = best("Who is the head of Sales?", staff)
    assert [one.text for one in ask.named] == ["role Head of Sales"]
    ask = best("Who is the head of Human Resources?", staff)
    assert [one.text for one in ask.named] == ["dept Human Resources", "role with “head”"]


def test_columns_named_by_years_are_rows() -> None:
    (wide,) = tables(population="city,2023,2024\nPorto,1,2\nBraga,3,4\n")
    assert [one.name for one in wide.fields] == ["city", "period", "population"]
    assert len(wide.source) == 4
    assert wide.source.ref(3) == "population.csv:3"


def test_a_key_joins_two_tables_and_its_name_stands_for_it() -> None:
    orders = "order_id,customer_id,amount\n1,C1,10\n2,C2,20\n3,C1,30\n"
    customers = "customer_id,name,country\nC1,Almond,Ireland\nC2,Birch,Germany\n"
    given = tables(orders=orders, customers=customers)
    ask = best("What is the total amount of orders from Ireland?", given)
    assert parts(ask) == ("figure", "amount", None, ["country Ireland"])
    assert len(ask.joins) == 1
    ask = best("Which customer has the highest amount?", given)
    assert ask.group is not None
    assert ask.group.name == "name"
