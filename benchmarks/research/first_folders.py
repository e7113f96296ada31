"""Folders of a shop, a firm, plants, branches, cities, orders and leases."""

import random
from collections.abc import Sequence

from benchmarks.research.forms import (
    Folder,
    Pdf,
    Question,
    Rows,
    Xlsx,
    by,
    csv,
    total,
    unanswerable,
)

MONTHS = "January February March April May June July August September October November December"
NAMES = MONTHS.split()


def shop() -> Folder:
    chance = random.Random(1)
    rows: Rows = [
        [
            f"{year}-{month:02}-15",
            region,
            product,
            chance.randint(5, 90),
            chance.randint(900, 9_000),
        ]
        for year in (2024, 2025)
        for month in range(1, 13)
        for region in ("North", "South", "West")
        for product in ("Lamp", "Chair")
    ]
    in_2025 = [row for row in rows if str(row[0]).startswith("2025")]
    in_2024 = [row for row in rows if str(row[0]).startswith("2024")]
    regions = by(in_2025, 1, 4)
    growth = (total(in_2025, 4) / total(in_2024, 4) - 1) * 100
    best = next(iter(by([row for row in rows if row[1] == "West"], 0, 3)))
    notes = (
        "# Sales meeting\n\nThe South opened a second store in Sevilla in May 2025.\n\n"
        "The supplier of chairs is Holtz & Sohn; the contract with them ends in June 2026.\n"
    )
    return Folder(
        "shop",
        {"sales.csv": csv("date,region,product,units,revenue", rows), "notes.md": notes},
        [
            Question(
                "sum",
                "What was the total revenue in 2025?",
                total(in_2025, 4),
                files=("sales.csv",),
            ),
            Question(
                "filter",
                "How many units of lamps were sold in the South in 2024?",
                total(in_2024, 3, lambda r: r[1] == "South" and r[2] == "Lamp"),
            ),
            Question(
                "max", "Which region had the highest revenue in 2025?", words=(next(iter(regions)),)
            ),
            Question(
                "growth", "By how much did revenue grow from 2024 to 2025, in percent?", growth
            ),
            Question(
                "filter",
                "What was the revenue of the West in the third quarter of 2025?",
                total(rows, 4, lambda r: r[1] == "West" and "2025-07" <= str(r[0]) < "2025-10"),
            ),
            Question(
                "max",
                "In which month did the West sell the most units?",
                words=(f"{best[:7]}|{NAMES[int(best[5:7]) - 1]} {best[:4]}",),
            ),
            unanswerable("What was the profit in 2025?"),
        ],
    )


def staff() -> Folder:
    rows: Rows = [
        ["Ada Brandt", "Engineering", "Developer", "Berlin", 72_000, "2019-04-01"],
        ["Boris Klein", "Engineering", "Head of Engineering", "Berlin", 98_000, "2016-01-15"],
        ["Carla Conti", "Human Resources", "Recruiter", "Milan", 51_000, "2021-09-01"],
        ["Dmitri Orlov", "Finance", "Head of Finance", "Berlin", 91_500, "2017-06-01"],
        ["Eva Lund", "Human Resources", "Payroll Clerk", "Oslo", 47_250, "2022-02-01"],
        ["Farid Aziz", "Sales", "Account Manager", "Milan", 58_000, "2020-11-16"],
        ["Greta Holm", "Sales", "Head of Sales", "Oslo", 88_000, "2018-03-01"],
        ["Hugo Blanc", "Engineering", "Developer", "Milan", 69_500, "2023-01-09"],
        ["Ines Prado", "Engineering", "Tester", "Oslo", 61_000, "2023-07-01"],
        ["Jan Novak", "Sales", "Account Manager", "Berlin", 57_200, "2024-05-01"],
    ]
    engineers = [row for row in rows if row[1] == "Engineering"]
    handbook = (
        "# Handbook\n\n## Holidays\n\nEvery employee has 28 days of paid leave a year. Unused days "
        "expire on 31 March of the next year.\n\n## Remote work\n\nUp to three days a week may be "
        "worked from home after the probation period of six months.\n"
    )
    return Folder(
        "staff",
        {"employees.csv": csv("name,dept,role,city,salary,start", rows), "handbook.md": handbook},
        [
            Question("count", "How many people work in Engineering?", len(engineers)),
            Question(
                "mean",
                "What is the average salary in the Engineering department?",
                total(engineers, 4) / len(engineers),
            ),
            Question("max", "Who earns the most?", words=("Boris Klein",)),
            Question("min", "Who has the lowest salary?", words=("Eva Lund",)),
            Question("fact", "Who is the head of Finance?", words=("Dmitri Orlov",)),
            unanswerable("Who is the head of Human Resources?"),
            unanswerable("What is the salary of Peter Schmidt?"),
        ],
    )


def energy() -> Folder:
    chance = random.Random(3)
    plants: Rows = [
        [plant, kind, chance.randint(20, 400) + 0.5, chance.randint(1_000, 90_000)]
        for plant, kind in (
            ("Arlow", "wind"),
            ("Birk", "wind"),
            ("Calder", "solar"),
            ("Dunmore", "solar"),
            ("Elster", "hydro"),
            ("Foss", "hydro"),
            ("Garn", "wind"),
        )
    ]
    repairs: Rows = [
        ["Arlow", "gearbox", 12_400.0],
        ["Birk", "blade", 8_150.5],
        ["Arlow", "blade", 7_300.0],
        ["Foss", "gate", 21_000.0],
        ["Garn", "gearbox", 15_250.0],
    ]
    book = Xlsx(
        {
            "Plants": [
                ["Plants of the group"],
                ["as of 31 December 2025"],
                [],
                ["Plant", "Type", "Capacity (MW)", "Output (MWh)"],
                *plants,
                ["Total", "", total(plants, 2), total(plants, 3)],
            ],
            "Repairs": [["Plant", "Part", "Cost (EUR)"], *repairs],
        }
    )
    ranked = sorted(plants, key=lambda row: -float(row[3]))
    return Folder(
        "energy",
        {"group.xlsx": book},
        [
            Question(
                "sum",
                "What is the total capacity of all plants?",
                total(plants, 2),
                files=("group.xlsx#Plants",),
            ),
            Question(
                "filter",
                "How much output did the wind plants have?",
                total(plants, 3, lambda r: r[1] == "wind"),
            ),
            Question(
                "ranking",
                "What are the three plants with the highest output?",
                words=tuple(str(row[0]) for row in ranked[:3]),
            ),
            Question("sum", "How much did repairs cost at Arlow?", 19_700),
            unanswerable("What is the capacity of the plant Holm?"),
        ],
    )


def german() -> Folder:
    chance = random.Random(4)

    def written(value: float) -> str:
        return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")

    rows: Rows = [
        [f"{day:02}.{month:02}.2025", city, chance.randint(100_000, 900_000) / 100]
        for month in range(1, 7)
        for day in (3, 17)
        for city in ("Köln", "Hamburg", "München")
    ]
    cells: Rows = [[row[0], row[1], written(float(row[2]))] for row in rows]
    text = "Umsatz der Filialen;;\n\n" + csv("Datum;Filiale;Umsatz (EUR)", cells, ";")
    text += f"\nSumme;;{written(total(rows, 2))}\n"
    sums = by(rows, 1, 2)
    return Folder(
        "german",
        {"umsatz.csv": text},
        [
            Question("sum", "What is the total Umsatz?", total(rows, 2), files=("umsatz.csv",)),
            Question(
                "filter",
                "What was the Umsatz in Köln in March 2025?",
                total(rows, 2, lambda r: r[1] == "Köln" and ".03." in str(r[0])),
            ),
            Question("max", "Which Filiale had the highest Umsatz?", words=(next(iter(sums)),)),
            Question(
                "difference",
                "What is the difference in Umsatz between Hamburg and München?",
                abs(sums["Hamburg"] - sums["München"]),
            ),
            unanswerable("What was the Umsatz in Stuttgart?"),
        ],
    )


def cities() -> Folder:
    chance = random.Random(5)
    places = (
        ("Porto", "Portugal"),
        ("Lisbon", "Portugal"),
        ("Braga", "Portugal"),
        ("Lyon", "France"),
        ("Nice", "France"),
        ("Turin", "Italy"),
        ("Bari", "Italy"),
        ("Graz", "Austria"),
    )
    rows: Rows = [
        [city, country, *(chance.randint(200, 900) * 1_000 + 7 * n for n in range(6))]
        for city, country in places
    ]
    grown = {str(row[0]): float(row[7]) / float(row[2]) - 1 for row in rows}
    return Folder(
        "cities",
        {"population.csv": csv("city,country,2019,2020,2021,2022,2023,2024", rows)},
        [
            Question("fact", "What was the population of Lyon in 2022?", float(rows[3][5])),
            Question(
                "sum",
                "What was the population of all cities in Portugal in 2024?",
                total(rows, 7, lambda r: r[1] == "Portugal"),
            ),
            Question(
                "growth",
                "Which city grew fastest from 2019 to 2024?",
                words=(max(grown, key=lambda one: grown[one]),),
            ),
            Question(
                "min",
                "Which city had the smallest population in 2020?",
                words=(str(min(rows, key=lambda r: float(r[3]))[0]),),
            ),
            unanswerable("What was the population of Lyon in 2031?"),
        ],
    )


def orders() -> Folder:
    chance = random.Random(6)
    customers: Rows = [
        ["C1", "Almond Ltd", "Ireland", "gold"],
        ["C2", "Birch GmbH", "Germany", "silver"],
        ["C3", "Cedar SA", "France", "gold"],
        ["C4", "Dogwood BV", "Netherlands", "bronze"],
        ["C5", "Elm AG", "Germany", "silver"],
    ]
    rows: Rows = [
        [
            f"O{n}",
            f"C{chance.randint(1, 5)}",
            f"{chance.randint(1, 12)}/{chance.randint(13, 28)}/2025",
            f'"${chance.randint(1_000, 9_999):,}.50"',
            chance.choice(["paid", "open"]),
        ]
        for n in range(1, 41)
    ]

    def amount(row: Sequence[str | float]) -> float:
        return float(str(row[3]).strip('"$').replace(",", ""))

    country = {str(row[0]): str(row[2]) for row in customers}
    spent: dict[str, float] = {}
    for row in rows:
        spent[str(row[1])] = spent.get(str(row[1]), 0) + amount(row)
    best = {str(row[0]): str(row[1]) for row in customers}[max(spent, key=lambda one: spent[one])]
    return Folder(
        "orders",
        {
            "orders.csv": csv("order_id,customer_id,date,amount,status", rows),
            "customers.csv": csv("customer_id,name,country,tier", customers),
        },
        [
            Question("count", "How many orders are open?", sum(row[4] == "open" for row in rows)),
            Question(
                "join",
                "What is the total amount of orders from Germany?",
                sum(amount(row) for row in rows if country[str(row[1])] == "Germany"),
                files=("orders.csv", "customers.csv"),
            ),
            Question("join", "Which customer has the highest total amount?", words=(best,)),
            Question(
                "mean", "What is the average amount of an order?", sum(map(amount, rows)) / 40
            ),
            unanswerable("How many orders were returned to the warehouse?"),
        ],
    )


def leases() -> Folder:
    lease = Pdf(
        [
            "LEASE AGREEMENT\n\nThis Lease is made on 3 February 2024 between\n"
            "Marten Property Ltd, the Landlord, and Orchid\nBakery GmbH, the Tenant.",
            "2. Rent. The monthly rent is EUR 4,350, payable on\nthe first working day.\n"
            "3. Deposit. The Tenant pays a deposit of EUR 13,050.",
            "7. Termination. Either party may termi-\nnate this Lease with a notice period of six\n"
            "months to the end of a calendar year.",
        ]
    )
    service = Pdf(
        [
            "SERVICE AGREEMENT\n\nBlue Kettle Cleaning provides cleaning to Orchid\n"
            "Bakery GmbH from 1 March 2024.",
            "4. Fees. The fee is EUR 690 a month.\n9. Termination. It may be terminated\n"
            "with a notice period of four weeks.",
        ]
    )
    return Folder(
        "leases",
        {"lease.pdf": lease, "service.pdf": service},
        [
            Question("fact", "What is the monthly rent?", words=("4,350",), files=("lease.pdf!2",)),
            Question("fact", "Who is the landlord?", words=("Marten",), files=("lease.pdf!1",)),
            Question(
                "fact",
                "What is the notice period of the lease?",
                words=("six",),
                files=("lease.pdf!3",),
            ),
            Question(
                "compare",
                "How do the notice periods of the lease and the service agreement differ?",
                words=("six", "four weeks"),
                files=("lease.pdf", "service.pdf"),
            ),
            unanswerable("Which insurance does the tenant need?"),
        ],
    )
