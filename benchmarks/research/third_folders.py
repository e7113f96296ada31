"""Four more folders and 51 questions, 7 without an answer: asked once before anything was changed.

Written by a reader of the code, in the words of people who own such files: headings stand close to
their text, quarters are named without a year, and a figure per another figure is asked for.
"""

import random

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


def gyms() -> Folder:
    chance = random.Random(31)
    fees = {"Basic": "19,90", "Plus": "29,90", "Premium": "49,90"}
    studios = ("Altona", "Barmbek", "Eimsbüttel")
    members: Rows = [
        [
            f"M{n:03}",
            chance.choice(studios),
            plan := chance.choice(list(fees)),
            f"{chance.randint(1, 28):02}.{chance.randint(1, 12):02}.{chance.choice([2023, 2024])}",
            fees[plan],
            f"{chance.randint(1, 28):02}.0{chance.randint(1, 9)}.2025"
            if chance.random() < 0.2
            else "",
            chance.randint(18, 70),
        ]
        for n in range(1, 61)
    ]
    visits: Rows = [
        ["Altona", 1477, 1901, 1114, 1671, 1999, 1908],
        ["Barmbek", 1462, 1499, 1540, 1600, 1271, 1247],
        ["Eimsbüttel", 1578, 1874, 2021, 2128, 2159, 2352],
    ]
    notes = (
        "# Notes of the regional manager\n"
        "## Altona\nThe sauna was closed from March 10 to April 22, 2025 because the boiler failed."
        " Repair cost 14,300 EUR, paid by the landlord.\nOpening hours are 6 am to 11 pm.\n"
        "## Barmbek\nVisits fell in May because the street in front was dug up by the water works."
        " Nadia Petersen has been head of the studio since January 2025.\n"
        "## Eimsbüttel\nWe opened the second floor on 1 February 2025. The lease runs until "
        "31 December 2029, with a notice period of twelve months.\n"
    )
    premium = [row for row in members if row[2] == "Premium"]
    barmbek = [row for row in members if row[1] == "Barmbek"]
    return Folder(
        "gyms",
        {
            "members.csv": csv(
                "member_id;Studio;Plan;Joined;Monthly fee (EUR);Cancelled on;Age", members, ";"
            ),
            "visits.csv": csv(
                "Studio,Jan 2025,Feb 2025,Mar 2025,Apr 2025,May 2025,Jun 2025", visits
            ),
            "manager-notes.md": notes,
        },
        [
            Question("why",
                     "Which studio's visits fell the most from January to June 2025, and why?",
                     words=("Barmbek", "dug up")),
            Question("fact", "Who is the head of the Barmbek studio?", words=("Nadia Petersen",)),
            Question("fact", "Why was the sauna closed?", words=("boiler failed",)),
            unanswerable("Who owns the Altona building?"),
            Question("sum", "How many visits did Barmbek have in Q2?", 1600 + 1271 + 1247),
            Question("count", "How many members does the Altona studio have?",
                     sum(row[1] == "Altona" for row in members)),
            Question("mean", "What is the average age of members on the Premium plan?",
                     total(premium, 6) / len(premium)),
            Question("count", "How many members cancelled in 2025?",
                     sum(row[5] != "" for row in members)),
            Question("share", "What share of members are on the Basic plan?",
                     100 * sum(row[2] == "Basic" for row in members) / 60),
            Question("max", "Which studio had the most visits in March 2025?",
                     words=("Eimsbüttel",)),
            Question("sum", "What is the total monthly fee of the Barmbek members?",
                     sum(float(str(row[4]).replace(",", ".")) for row in barmbek)),
            Question("fact", "When does the lease of Eimsbüttel end?", words=("31 December 2029",)),
            Question("fact", "How much did the boiler repair cost?", words=("14,300",)),
            Question("count", "How many members joined before 2024?",
                     sum(str(row[3]).endswith("2023") for row in members)),
            unanswerable("What is the phone number of the Altona studio?"),
            Question("sum", "How many visits did Barmbek have in the second quarter of 2025?",
                     1600 + 1271 + 1247),
        ],
    )  # fmt: skip


def lending() -> Folder:
    chance = random.Random(32)
    branches: Rows = [
        [1, "Central", "Graz", "1985-05-02", 42],
        [2, "West", "Graz", "2003-09-15", 11],
        [3, "Harbour", "Linz", "2011-03-30", 17],
    ]
    loans: Rows = [
        [n, f"2025-{month:02}-01", kind, chance.randint(900, 4000), chance.randint(20, 90) / 10]
        for month in range(1, 13)
        for n in (1, 2, 3)
        for kind in ("Fiction", "Children", "Non-fiction")
    ]
    shown = [[*row[:3], f'"{row[3]:,}"', row[4]] for row in loans]
    first = [row for row in loans if str(row[1]) < "2025-04"]
    graz = {
        month: total(loans, 3, lambda r, m=month: r[0] in (1, 2) and r[2] == "Fiction"
                     and str(r[1]).startswith(f"2025-{m}"))
        for month in ("01", "12")
    }  # fmt: skip
    central = [float(row[4]) for row in loans if row[0] == 1]
    months = by([[str(row[1])[:7], row[3]] for row in loans], 0, 1)
    names = {"01": "January", "02": "February", "03": "March", "04": "April", "05": "May",
             "06": "June", "07": "July", "08": "August", "09": "September", "10": "October",
             "11": "November", "12": "December"}  # fmt: skip
    rules = (
        "Lending rules {}\n\nBooks may be kept for {} days. A book can be renewed twice. The fine "
        "for an overdue item is {} euros per day, at most {} euros.\nInterlibrary loans cost 4 "
        "euros.\n"
    )
    return Folder(
        "lending",
        {
            "loans.csv": "Loan report 2025\n\n"
            + csv("branch_id,Date,Category,Loans,Overdue rate %", shown),
            "branches.csv": csv("id,Branch,City,Opened,Staff", branches),
            "rules-2024.txt": rules.format(2024, 28, "0.30", 12),
            "rules-2025.txt": rules.format(2025, 21, "0.50", 15),
        },
        [
            Question("min", "Which category had the fewest loans in the first quarter?",
                     words=(list(by(first, 2, 3))[-1],),
                     value=None),
            Question("filter", "How many loans of fiction were there in the first quarter?",
                     total(first, 3, lambda r: r[2] == "Fiction")),
            Question("compare", "How did the lending rules change between 2024 and 2025?",
                     words=("28 days", "21 days")),
            Question("compare", "How long may books be kept under the old and the new rules?",
                     words=("28 days", "21 days")),
            Question("sum", "What was the number of loans in the last three months of 2025?",
                     total(loans, 3, lambda r: str(r[1]) >= "2025-10")),
            Question("join", "How many loans were there in Linz in 2025?",
                     total(loans, 3, lambda r: r[0] == 3)),
            Question("mean", "What is the average overdue rate of the Central branch?",
                     sum(central) / len(central)),
            unanswerable("How many loans per opening hour did each branch have?"),
            Question("fact", "What is the fine for an overdue item in 2025?", words=("0.50",)),
            Question("min", "Which branch is the oldest?", words=("Central",)),
            Question("growth",
                     "By how much did loans of fiction in Graz grow from January to December 2025?",
                     100 * (graz["12"] / graz["01"] - 1)),
            Question("ranking", "Rank the branches by loans of children's books.",
                     words=("Central", "West", "Harbour")),
            unanswerable("Does the library lend video games?"),
            Question("max", "In which month were loans highest?",
                     words=(names[next(iter(months))[5:]],)),
        ],
    )  # fmt: skip


def timesheets() -> Folder:
    chance = random.Random(33)
    people = ("Aiko Mori", "Ben Carter", "Chloé Martin", "David Osei")
    projects = ("Apollo", "Borealis", "Cascade")
    rows: Rows = [
        [
            f"2025-{month:02}-{day:02}",
            chance.choice(people),
            chance.choice(projects),
            chance.randint(2, 16) / 2,
            chance.choice(["yes", "no"]),
        ]
        for month in (7, 8, 9)
        for day in range(1, 29, 2)
    ]
    budget: Rows = [
        ["Apollo", "Reyes Logistics", 180, "€24,000"],
        ["Borealis", "City of Lund", 90, "€11,500"],
        ["Cascade", "Reyes Logistics", 120, "€15,000"],
    ]
    book = Xlsx({"Budget": [["Project", "Client", "Planned hours", "Budget"], *budget]})
    mail = Docx(
        [
            "# Status, 3 October 2025",
            "Apollo is two weeks late: the customer's interface was delivered in August only.",
            "Borealis was accepted on 29 September 2025. Invoice 2025-117 was sent the same day.",
            "Chloé Martin leaves the company on 31 October; Ben Carter takes over Cascade.",
        ]
    )
    hours = by(rows, 2, 3)
    return Folder(
        "timesheets",
        {
            "hours.csv": csv("date,person,project,hours,billable", rows),
            "budget.xlsx": book,
            "status.docx": mail,
        },
        [
            Question("filter", "How many hours were booked on Apollo in August?",
                     total(rows, 3, lambda r: r[2] == "Apollo" and str(r[0])[5:7] == "08")),
            Question("max", "Who booked the most hours on Cascade?",
                     words=(next(iter(by([r for r in rows if r[2] == "Cascade"], 1, 3))),)),
            Question("share", "What percentage of the hours is billable?",
                     100 * total(rows, 3, lambda r: r[4] == "yes") / total(rows, 3)),
            Question("join", "How many hours were booked for Reyes Logistics?",
                     hours["Apollo"] + hours["Cascade"]),
            Question("fact", "Who takes over Cascade?", words=("Ben Carter",)),
            Question("sum", "How many hours did Aiko Mori book in total?",
                     total(rows, 3, lambda r: r[1] == "Aiko Mori")),
            Question("difference", "How many more hours went into Apollo than into Borealis?",
                     abs(hours["Apollo"] - hours["Borealis"]),
                     words=(max(("Apollo", "Borealis"), key=hours.__getitem__),)),
            Question("fact", "What is the budget of Borealis?", 11_500),
            Question("sum", "What are the three budgets together?", 50_500),
            Question("fact", "When was Borealis accepted?", words=("29 September 2025",)),
            Question("fact", "Why is Apollo late?", words=("interface",)),
            Question("each", "Show the hours per person.", words=people),
            unanswerable("What is the hourly rate of Ben Carter?"),
            unanswerable("How many hours were booked on Dynamo?"),
        ],
    )  # fmt: skip


def harvest() -> Folder:
    chance = random.Random(34)
    fields = ("Nordfeld", "Mühlacker", "Bachwiese")
    rows: Rows = [
        [field, crop, year, f"{chance.randint(8_000, 60_000):,}".replace(",", "."),
         f"{chance.randint(180, 420) / 1000:.3f}".replace(".", ",")]
        for year in (2022, 2023, 2024)
        for field in fields
        for crop in ("Wheat", "Rye")
    ]  # fmt: skip
    plain = [[*row[:3], int(str(row[3]).replace(".", ""))] for row in rows]
    pdf = Pdf(
        [
            "Harvest report 2024\nThe summer was dry. Rye suffered less than wheat.\n"
            "Hail destroyed a third of the wheat on Bachwiese on 14 July 2024.",
            "Machinery\nA combine harvester was leased from Lohmann KG for 1,850 euros per week.\n"
            "The old one was sold in November 2023.",
        ]
    )
    wheat = by([row for row in plain if row[1] == "Wheat"], 2, 3)
    return Folder(
        "harvest",
        {
            "harvest.csv": csv("field;crop;year;yield_kg;price_eur_per_kg", rows, ";"),
            "report-2024.pdf": pdf,
        },
        [
            Question("sum", "How many kilograms of rye were harvested in 2023?",
                     total(plain, 3, lambda r: r[1] == "Rye" and r[2] == 2023)),
            Question("max", "In which year was the wheat yield highest?",
                     words=(next(iter(wheat)),)),
            Question("max", "Which field yielded the most in 2024?",
                     words=(next(iter(by([r for r in plain if r[2] == 2024], 0, 3))),)),
            Question("fact", "What destroyed wheat on Bachwiese?", words=("Hail",),
                     files=("report-2024.pdf!1",)),
            Question("fact", "From whom was the combine harvester leased?", words=("Lohmann",)),
            Question("fact", "How much was the lease per week?", words=("1,850",)),
            unanswerable("How much barley was harvested?"),
        ],
    )  # fmt: skip


THIRD = [gyms(), lending(), timesheets(), harvest()]
