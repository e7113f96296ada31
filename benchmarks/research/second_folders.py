"""Folders of minutes, clinics, tickets, policies, a report, a fleet, a school and a start-up."""

import random

from benchmarks.research.forms import (
    Docx,
    Folder,
    Pdf,
    Question,
    Rows,
    by,
    csv,
    total,
    unanswerable,
)

MONTHS = "January February March April May June July August September October November December"
NAMES = MONTHS.split()


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
