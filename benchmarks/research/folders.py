"""The folders and their questions: tables, notes, PDFs and mixtures.

Written before the team that answers them, from what its issue asks for; they are not changed.
"""

import random
from collections.abc import Sequence

from benchmarks.research.forms import (
    Docx,
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


def minutes() -> Folder:
    budget = (
        "# Budget 2026\n\n| Project | Owner | Budget | Status |\n|---|---|--:|---|\n"
        "| Harbour | Lena Voss | €120,000 | running |\n| Mill | Tom Reyes | €85,500 | stopped |\n"
        "| Tower | Lena Voss | €240,000 | planned |\n| Ferry | Ana Silva | €64,250 | running |\n"
    )
    may = (
        "# Minutes, 12 May 2025\n\nThe Mill was stopped because the soil is contaminated.\n\n"
        "Ana Silva reports that the ferry needs a new engine.\n"
    )
    june = (
        "# Minutes, 9 June 2025\n\nThe Tower was postponed to spring 2026, since the permit is "
        "missing.\n\nNext meeting: 14 July 2025, in the library.\n"
    )
    return Folder(
        "minutes",
        {"budget.md": budget, "may.md": may, "june.md": june},
        [
            Question(
                "sum", "What is the total budget of the projects that Lena Voss owns?", 360_000
            ),
            Question(
                "fact",
                "Why was the Mill project stopped?",
                words=("contaminated",),
                files=("may.md",),
            ),
            Question(
                "why",
                "Which project has the largest budget, and why was it postponed?",
                words=("Tower", "permit"),
                files=("budget.md", "june.md"),
            ),
            Question("fact", "When is the next meeting?", words=("14 July 2025",)),
            unanswerable("What did the auditor criticise?"),
        ],
    )


def clinics() -> Folder:
    rows: Rows = [
        ["Ashford", 2024, 41, 88.5, 1_240],
        ["Ashford", 2025, 35, 91.0, 1_310],
        ["Barlow", 2024, 62, 79.0, 2_050],
        ["Barlow", 2025, 66, 77.5, 1_990],
        ["Corby", 2024, 28, 93.5, 860],
        ["Corby", 2025, 30, 92.0, 905],
    ]
    return Folder(
        "clinics",
        {"waiting.csv": csv("clinic,year,median_wait_days,satisfaction_pct,patients", rows)},
        [
            Question("max", "Which clinic had the longest median wait in 2025?", words=("Barlow",)),
            Question("fact", "What was the satisfaction in Corby in 2024?", 93.5),
            Question("sum", "How many patients were treated in 2025 in total?", 4_205),
            Question(
                "difference",
                "By how many days did the median wait in Ashford change from 2024 to 2025?",
                words=("6",),
            ),
            unanswerable("How many nurses does Barlow have?"),
        ],
    )


def tickets() -> Folder:
    chance = random.Random(10)
    rows = [
        {
            "ticket": n,
            "opened": f"2025-{chance.randint(1, 6):02}-{chance.randint(1, 28):02}",
            "product": chance.choice(["Router", "Camera", "Doorbell"]),
            "priority": chance.choice(["high", "medium", "low"]),
            "hours": chance.randint(1, 60),
        }
        for n in range(1, 61)
    ]
    lines = [str(row).replace("'", '"') for row in rows]
    hours = [int(str(row["hours"])) for row in rows]
    high = [row for row in rows if row["priority"] == "high"]
    products = by([[str(row["product"]), 1.0] for row in rows], 0, 1)
    note = (
        "Firmware 4.2 broke the night mode of the cameras; 4.3 fixes it.\n\n"
        "The doorbell loses its connection when the battery is below 20 percent.\n"
    )
    april = sum(str(row["opened"]).startswith("2025-04") for row in rows)
    return Folder(
        "tickets",
        {"tickets.jsonl": "\n".join(lines) + "\n", "known.txt": note},
        [
            Question("count", "How many tickets have high priority?", len(high)),
            Question("max", "Which product has the most tickets?", words=(next(iter(products)),)),
            Question("mean", "What is the average number of hours of a ticket?", sum(hours) / 60),
            Question("count", "How many tickets were opened in April 2025?", april),
            unanswerable("How many tickets are about the thermostat?"),
        ],
    )


def travel() -> Folder:
    old = (
        "# Travel policy 2023\n\nHotels are paid up to 120 EUR a night.\n\nFlights are booked in "
        "economy class. Trains are booked in second class.\n\nReceipts are due within 30 days.\n"
    )
    new = Docx(
        [
            "# Travel policy 2025",
            "Hotels are paid up to 145 EUR a night.",
            "Flights of more than six hours may be booked in premium economy.",
            "Receipts are handed in within 14 days.",
            "Taxis need the approval of a manager.",
        ]
    )
    return Folder(
        "travel",
        {"policy_2023.md": old, "policy_2025.docx": new},
        [
            Question(
                "compare",
                "What is the difference between the hotel limits of 2023 and 2025?",
                words=("120", "145"),
                files=("policy_2023.md", "policy_2025.docx"),
            ),
            Question(
                "compare",
                "How did the deadline for receipts change between the two policies?",
                words=("30", "14"),
            ),
            Question(
                "fact",
                "Whose approval do taxis need?",
                words=("manager",),
                files=("policy_2025.docx",),
            ),
            Question("fact", "In which class are trains booked?", words=("second",)),
            unanswerable("How much is paid per kilometre for a private car?"),
        ],
    )


def report() -> Folder:
    def page(number: int, text: str) -> str:
        return f"Northlake Water Authority - Annual Report 2024\n{text}\nPage {number}"

    pages = [
        page(
            1,
            "Annual Report 2024\n\nThe authority supplies 214,000 house-\nholds with water.",
        ),
        page(
            2,
            "Quality. In 2024, 9,870 samples were analysed.\nOf these, 99.3 percent met all "
            "limits.",
        ),
        page(
            3,
            "Losses. Leakage fell to 8.4 percent of the water\ndelivered, after 11.2 percent in "
            "2023, because 61 km\nof mains were replaced.",
        ),
        page(
            4,
            "Staff. The authority employs 412 people. The\ndirector, Helen Marsh, retires in "
            "October 2025.",
        ),
        page(
            5,
            "Investment. The new treatment works at Pike Hill\ncost 38.6 million euros and opened "
            "on 2 May 2024.",
        ),
    ]
    return Folder(
        "report",
        {"annual.pdf": Pdf(pages)},
        [
            Question(
                "fact",
                "How many households are supplied with water?",
                words=("214,000",),
                files=("annual.pdf!1",),
            ),
            Question("fact", "Why did leakage fall?", words=("mains",), files=("annual.pdf!3",)),
            Question(
                "fact", "Who is the director?", words=("Helen Marsh",), files=("annual.pdf!4",)
            ),
            Question(
                "fact", "When did the treatment works at Pike Hill open?", words=("2 May 2024",)
            ),
            unanswerable("What is the price of a cubic metre of water?"),
        ],
    )


def fleet() -> Folder:
    chance = random.Random(13)
    vehicles: Rows = [
        ["V1", "Van", 2019],
        ["V2", "Truck", 2021],
        ["V3", "Van", 2022],
        ["V4", "Car", 2020],
    ]
    trips: Rows = [
        [
            f"V{chance.randint(1, 4)}",
            f"{chance.randint(1, 3)}/{chance.randint(1, 28)}/2025",
            f"{chance.randint(10_000, 29_999) / 10:,.1f}",
            chance.randint(20, 300),
        ]
        for _ in range(45)
    ]
    plain: Rows = [[row[0], row[1], str(row[2]).replace(",", ""), row[3]] for row in trips]
    kind = {str(row[0]): str(row[1]) for row in vehicles}
    distance = by(plain, 0, 2)
    by_kind: dict[str, float] = {}
    for vehicle, km in distance.items():
        by_kind[kind[vehicle]] = by_kind.get(kind[vehicle], 0) + km
    ranked = list(distance)
    february = total(plain, 3, lambda r: str(r[1]).startswith("2/"))
    return Folder(
        "fleet",
        {
            "trips.tsv": csv("vehicle\tday\tdistance_km\tfuel_litres", trips, "\t"),
            "vehicles.csv": csv("vehicle,type,built", vehicles),
        },
        [
            Question("sum", "How many litres of fuel were used in February 2025?", february),
            Question("join", "What distance did the vans drive in total?", by_kind["Van"]),
            Question("ranking", "Rank the vehicles by distance.", words=tuple(ranked)),
            Question("count", "How many trips were there?", 45),
            unanswerable("Who drove V3?"),
        ],
    )


def school() -> Folder:
    chance = random.Random(14)
    rows: Rows = [
        [
            f"Pupil {n}",
            chance.choice(["7a", "7b", "8a"]),
            chance.choice(["Art", "Music"]),
            chance.randint(40, 100),
            chance.randint(0, 20),
        ]
        for n in range(1, 31)
    ]
    text = csv("Pupil,Class,Course,Score,Absences (days)", rows[:15])
    text += "\n" + csv("", rows[15:]).lstrip("\n") + "Pupil 31,7b,Art,n/a,3\n"
    text += f"Total,,,,{total(rows, 4) + 3:g}\n"
    in_7b = [row for row in rows if row[1] == "7b"]
    best = max(rows, key=lambda row: float(row[3]))
    art = [row for row in rows if row[2] == "Art"]
    return Folder(
        "school",
        {"scores.csv": text},
        [
            Question("mean", "What is the mean score of class 7b?", total(in_7b, 3) / len(in_7b)),
            Question("max", "What is the highest score in Art?", max(float(row[3]) for row in art)),
            Question("sum", "How many days of absence are there in all?", total(rows, 4) + 3),
            Question(
                "count", "How many pupils take Music?", sum(row[2] == "Music" for row in rows)
            ),
            Question(
                "max",
                "Which pupil has the best score?",
                words=("|".join(str(row[0]) for row in rows if row[3] == best[3]),),
            ),
        ],
    )


def startup() -> Folder:
    plans = ("Basic", "Team", "Enterprise")
    base = {"Basic": 4_000, "Team": 9_000, "Enterprise": 12_000}
    step = {"Basic": -60, "Team": 210, "Enterprise": 640}
    rows: Rows = [
        [f"{NAMES[n % 12][:3]} {2024 + n // 12}", plan, base[plan] + n * step[plan]]
        for n in range(18)
        for plan in plans
    ]
    churn: Rows = [
        ["2024", "Basic", "6.1%"],
        ["2024", "Team", "2.4%"],
        ["2024", "Enterprise", "0.8%"],
    ]
    board = (
        "# Board letter, July 2025\n\nEnterprise grew because the audit log that large customers "
        "asked for was shipped in November 2024.\n\nBasic lost customers to Kiteflow, which offers "
        "a free plan.\n\nWe hire two engineers in autumn.\n"
    )
    pricing = Pdf(
        [
            "Prices from 1 August 2025\n\nBasic: $19 a month\nTeam: $49 a month for each seat\n"
            "Enterprise: on request"
        ]
    )
    last = total(rows, 2, lambda r: r[0] == "Jun 2025")
    january = total(rows, 2, lambda r: r[0] == "Jan 2024")
    team = total(rows, 2, lambda r: r[0] == "Jun 2025" and r[1] == "Team")
    return Folder(
        "startup",
        {
            "mrr.csv": csv("month,plan,mrr", rows),
            "churn.csv": csv("year,plan,churn", churn),
            "board.md": board,
            "pricing.pdf": pricing,
        },
        [
            Question(
                "why",
                "Which plan grew fastest, and why?",
                words=("Enterprise", "audit log"),
                files=("mrr.csv", "board.md"),
            ),
            Question("why", "Which plan shrank and why?", words=("Basic", "Kiteflow")),
            Question(
                "share", "What share of the MRR did Team have in June 2025?", team / last * 100
            ),
            Question(
                "growth",
                "How much did the MRR grow from January 2024 to June 2025?",
                (last / january - 1) * 100,
            ),
            Question("fact", "What was the churn of Basic in 2024?", 6.1, files=("churn.csv",)),
            unanswerable("How many customers does the Gold plan have?"),
        ],
    )


FOLDERS = [
    make()
    for make in (
        shop,
        staff,
        energy,
        german,
        cities,
        orders,
        leases,
        minutes,
        clinics,
        tickets,
        travel,
        report,
        fleet,
        school,
        startup,
    )
]
