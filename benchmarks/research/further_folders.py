"""Five further folders and 31 questions, 5 without an answer: asked, and not tuned on.

Written after the 80 of `folders`, in the words of readers of such files.
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


def library() -> Folder:
    chance = random.Random(21)
    branches: Rows = [
        ["Harbour", "Old Town", 1998, 11],
        ["Mill Lane", "Westend", 2006, 7],
        ["Station", "Old Town", 2015, 14],
        ["Hillside", "Northgate", 1987, 5],
    ]
    rows: Rows = [
        [f"{year}-{month:02}", branch, kind, chance.randint(200, 2_400), chance.randint(3, 90)]
        for year in (2023, 2024)
        for month in range(1, 13)
        for branch, *_ in branches
        for kind in ("Fiction", "Children", "Films")
    ]
    district = {str(row[0]): str(row[1]) for row in branches}
    in_2024 = [row for row in rows if str(row[0]).startswith("2024")]
    films = by([row for row in in_2024 if row[2] == "Films"], 1, 3)
    old_town = total(rows, 3, lambda r: district[str(r[1])] == "Old Town")
    notes = (
        "# Report of the director\n\nLoans of films are falling because most readers stream them."
        "\n\nThe branch at Mill Lane closes for repairs on 4 August 2025. The repairs cost "
        "310,000 euros.\n\nOpening hours on Sundays were tried at Station and will stay.\n"
    )
    return Folder(
        "library",
        {
            "loans.csv": csv("month,branch,category,loans,late_returns", rows),
            "branches.csv": csv("branch,district,opened,employees", branches),
            "director.md": notes,
        },
        [
            Question("sum", "How many loans did Hillside have in 2024?",
                     total(in_2024, 3, lambda r: r[1] == "Hillside")),
            Question("max", "Which branch lent the most films in 2024?",
                     words=(next(iter(films)),)),
            Question("join", "How many loans were there in the Old Town altogether?", old_town),
            Question("share", "What percentage of all loans were children's books in 2024?",
                     100 * total(in_2024, 3, lambda r: r[2] == "Children") / total(in_2024, 3)),
            Question("fact", "When does Mill Lane close?", words=("4 August 2025",),
                     files=("director.md",)),
            unanswerable("How many loans did the branch in Southfield have?"),
        ],
    )  # fmt: skip


def donations() -> Folder:
    chance = random.Random(22)
    donors: Rows = [
        ["Aspen Trust", "foundation", "Norway"],
        ["Borealis AB", "company", "Sweden"],
        ["C. Lindqvist", "private", "Sweden"],
        ["Dalgaard Fund", "foundation", "Denmark"],
        ["E. Haraldsen", "private", "Norway"],
    ]
    gifts: Rows = [
        [
            str(donors[n % 5][0]),
            f"{chance.randint(1, 28)} {chance.choice(['March', 'June', 'October'])} 2025",
            chance.randint(500, 40_000),
            chance.choice(["Schools", "Wells", "Clinics"]),
        ]
        for n in range(35)
    ]
    country = {str(row[0]): str(row[2]) for row in donors}
    wells = [row for row in gifts if row[3] == "Wells"]
    sums = by(gifts, 0, 2)
    book = Xlsx(
        {
            "Gifts": [
                ["Gifts received"],
                ["Year 2025, all figures in EUR"],
                [],
                ["Donor", "Received on", "Gift (EUR)", "Programme"],
                *gifts,
                ["Total", "", total(gifts, 2), ""],
            ],
            "Donors": [["Donor", "Kind", "Country"], *donors],
        }
    )
    letter = Docx(
        [
            "# Letter to the board",
            "The treasurer, Sigrid Moen, leaves at the end of the year.",
            "We did not build the clinic in Kisumu, since the land could not be bought.",
            "Overheads were 8.5 percent of what we spent.",
        ]
    )
    return Folder(
        "donations",
        {"gifts.xlsx": book, "letter.docx": letter},
        [
            Question("sum", "How much money did we receive for the programme Wells?",
                     total(wells, 2)),
            Question("count", "How many gifts came in October 2025?",
                     sum("October" in str(row[1]) for row in gifts)),
            Question("max", "Which donor gave the most?", words=(next(iter(sums)),)),
            Question("join", "What was the total of gifts from Sweden?",
                     total(gifts, 2, lambda r: country[str(r[0])] == "Sweden")),
            Question("fact", "Who is the treasurer?", words=("Sigrid Moen",)),
            Question("fact", "Why was the clinic in Kisumu not built?", words=("land",),
                     files=("letter.docx",)),
            unanswerable("Who is the auditor?"),
        ],
    )  # fmt: skip


def bakery() -> Folder:
    chance = random.Random(23)
    rows: Rows = [
        [product, *(chance.randint(2_000, 30_000) for _ in range(8))]
        for product in ("Rye bread", "Baguette", "Croissant", "Cinnamon roll", "Sourdough")
    ]
    quarters = [f"Q{quarter} {year}" for year in (2023, 2024) for quarter in range(1, 5)]
    of_2024 = {str(row[0]): total([[value] for value in row[5:]], 0) for row in rows}
    first = min(rows, key=lambda row: float(row[1]))
    grown = {str(row[0]): float(row[8]) / float(row[1]) for row in rows}
    manual = Pdf(
        [
            "Baking manual\n\nRye dough rests for fourteen hours. The oven for baguettes is\n"
            "heated to 250 degrees.",
            "Allergens. Cinnamon rolls contain hazel-\nnuts and milk.\n"
            "Cleaning. The kneading machine is cleaned every evening.",
        ]
    )
    return Folder(
        "bakery",
        {"pieces.csv": csv("product," + ",".join(quarters), rows), "manual.pdf": manual},
        [
            Question("fact", "How many croissants were made in Q3 2023?", float(rows[2][3])),
            Question("sum", "How many pieces of sourdough were baked in 2024?",
                     of_2024["Sourdough"]),
            Question("min", "Which product had the lowest number of pieces in the first quarter "
                     "of 2023?", words=(str(first[0]),)),
            Question("growth", "Which product grew most from Q1 2023 to Q4 2024?",
                     words=(max(grown, key=lambda one: grown[one]),)),
            Question("fact", "How long does rye dough rest?", words=("fourteen",),
                     files=("manual.pdf!1",)),
            unanswerable("What do baguettes cost?"),
        ],
    )  # fmt: skip


def buildings() -> Folder:
    chance = random.Random(24)
    rows: Rows = [
        [f"{month:02}/{year}", house, chance.randint(20_000, 99_999) / 10, chance.randint(200, 999)]
        for year in (2024, 2025)
        for month in range(1, 13)
        for house in ("Villa Nord", "Depot", "Halle 3")
    ]
    cells: Rows = [
        [row[0], row[1], f"{row[2]:,}".replace(",", " ").replace(".", ","), row[3]] for row in rows
    ]
    in_2025 = [row for row in rows if str(row[0]).endswith("2025")]
    in_2024 = [row for row in rows if str(row[0]).endswith("2024")]
    ranked = list(by(in_2025, 1, 2))
    depot = [row for row in rows if row[1] == "Depot"]
    january = [float(row[2]) for row in depot if str(row[0]).startswith("01/")]
    memo = (
        "# Memo on heating\n\nThe depot used more power in 2025 because two charging points for "
        "lorries were installed.\n\nThe tenant of Halle 3 is Brack Spedition; its lease ends on "
        "30 September 2026.\n"
    )
    return Folder(
        "buildings",
        {"power.csv": csv("Month;Building;Power (kWh);Water (m3)", cells, ";"), "memo.md": memo},
        [
            Question("sum", "What was the power consumption of Halle 3 in 2025?",
                     total(in_2025, 2, lambda r: r[1] == "Halle 3")),
            Question("ranking", "Rank the buildings by power in 2025", words=tuple(ranked)),
            Question("difference", "By how much did the power of the depot change from January "
                     "2024 to January 2025?", january[1] - january[0]),
            Question("mean", "How much water is used per month on average in Villa Nord?",
                     total(rows, 3, lambda r: r[1] == "Villa Nord") / 24),
            Question("growth", "By what percentage did total power grow between 2024 and 2025?",
                     (total(in_2025, 2) / total(in_2024, 2) - 1) * 100),
            Question("fact", "When does the lease of Brack Spedition end?",
                     words=("30 September 2026",)),
        ],
    )  # fmt: skip


def recruiting() -> Folder:
    chance = random.Random(25)
    rows = [
        {
            "applicant": f"A-{n:03}",
            "position": chance.choice(["Nurse", "Cook", "Driver"]),
            "source": chance.choice(["referral", "website", "agency"]),
            "years_experience": chance.randint(0, 20),
            "outcome": chance.choice(["hired", "rejected", "withdrawn"]),
        }
        for n in range(1, 51)
    ]
    lines = [str(row).replace("'", '"') for row in rows]
    hired = [row for row in rows if row["outcome"] == "hired"]
    nurses = [int(str(row["years_experience"])) for row in rows if row["position"] == "Nurse"]
    sources = by([[str(row["source"]), 1.0] for row in hired], 0, 1)
    old = (
        "# Leave 2024\n\nParents get ten weeks of paid leave.\n\nSick notes are due on day three.\n"
    )
    new = "# Leave 2026\n\nParents get sixteen weeks of paid leave.\n\nUnpaid leave is possible.\n"
    return Folder(
        "recruiting",
        {"applicants.jsonl": "\n".join(lines) + "\n", "leave_2024.md": old, "leave_2026.md": new},
        [
            Question("count", "How many applicants were hired as drivers?",
                     sum(row["position"] == "Driver" for row in hired)),
            Question("mean", "What is the average experience of nurses in years?",
                     sum(nurses) / len(nurses)),
            Question("compare", "How does paid leave for parents differ between 2024 and 2026?",
                     words=("ten", "sixteen")),
            unanswerable("How many dentists applied?"),
            unanswerable("What is the salary of a cook?"),
            # The most hired people came from it.
            Question("max", "Which source brought the most hired applicants?",
                     words=("|".join(one for one in sources
                                     if sources[one] == max(sources.values())),)),
        ],
    )  # fmt: skip


FURTHER = [make() for make in (library, donations, bakery, buildings, recruiting)]
