"""The input files of a small firm: notes, a page, a contract, a memo, two tables."""

import json
from pathlib import Path

from leadhand_teams.research.answering import combined
from leadhand_teams.research.finding import AskedFiles, of_tables, of_texts
from leadhand_teams.research.output import ResearchAnswer
from leadhand_teams.shared.reading import read
from tests.tools.files.samples import docx, pdf

PRICING = """\
# Pricing review, autumn 2024

## Why prices went up

In March 2024 we raised the price of the Standard plan from 29 to 34 euros a month. Hosting had
become 22% dearer within a year, and the old price no longer covered support for small accounts.

## What customers said

Most customers took the new price without a word. Of 41 replies to the announcement, 9 were angry,
and four of those cancelled. The complaint that came up most was not the amount but the notice of
only two weeks.

## Next steps

- Give 60 days of notice from now on.
- Test an annual plan with two months free.
"""

NORTH = """\
# Notes from the regions

## North

The North region lost its largest reseller, Brandt & Co., in July 2023. Revenue from the North fell
that summer and has been recovering since the direct sales team started in January 2024.

## South

Nothing unusual. Two trade fairs in spring bring most of the South's new customers.
"""

PAGE = """\
<html><head><title>Support report</title><script>alert(1)</script></head><body>
<h1>Support report 2024</h1>
<p>Support answered 1,930 tickets in 2024, up from 1,610 the year before.</p>
<h2>Cancellations</h2>
<p>Customers who cancelled named three reasons: the price increase (31%), a missing mobile app
(24%), and the end of the project they had used us for (18%).</p>
</body></html>
"""

CONTRACT = (
    "Framework contract between the firm and its resellers.",
    "Either side may terminate with a notice of three months to the end of a quarter.",
    "The reseller's discount is 20 percent of the list price.",
)

MEMO = (
    "# Plan for the North",
    "The direct sales team in the North will grow from two to four people in 2025.",
    "# Risks",
    "If revenue in the North does not pass 60,000 euros a month by June, the Kiel office closes.",
)

REGIONS = {"North": 52_000, "South": 61_000, "West": 38_500}

CUSTOMERS = (
    ("Adler Logistics", "Enterprise", "North", 4_900, "2021-03-15"),
    ("Bergmann KG", "Standard", "North", 340, "2022-06-01"),
    ("Cisar & Sons", "Standard", "South", 510, "2022-11-20"),
    ("Deltawerk", "Enterprise", "West", 3_750, "2020-01-10"),
    ("Ernst Optik", "Starter", "South", 90, "2024-02-05"),
    ("Falk Druck", "Standard", "South", 680, "2023-04-18"),
    ("Gruber Bau", "Starter", "West", 60, "2024-05-30"),
    ("Hansen Shipping", "Enterprise", "North", 6_200, "2019-09-02"),
)


def revenue() -> str:
    """Two years of monthly revenue in three regions, with a slump in the North."""
    lines = ["month,region,revenue,orders"]
    for n in range(24):
        year, month = 2023 + n // 12, n % 12 + 1
        for region, start in REGIONS.items():
            grown = start * (1 + 0.012 * n)
            if region == "North" and 6 <= n < 12:
                grown *= 0.7
            lines.append(f"{year}-{month:02}-01,{region},{grown:.2f},{round(grown / 410)}")
    return "\n".join(lines) + "\n"


def folder(home: Path) -> Path:
    """Write the folder into `home`."""
    made = home / "handed-in"
    (made / "notes").mkdir(parents=True)
    (made / "notes" / "pricing.md").write_text(PRICING)
    (made / "notes" / "regions.md").write_text(NORTH)
    (made / "support.html").write_text(PAGE)
    (made / "contract.pdf").write_bytes(pdf(CONTRACT))
    docx(made / "north.docx", MEMO)
    (made / "revenue.csv").write_text(revenue())
    fields = ("name", "plan", "region", "mrr", "customer_since")
    rows = [dict(zip(fields, row, strict=True)) for row in CUSTOMERS]
    (made / "customers.json").write_text(json.dumps(rows, indent=1))
    (made / "logo.bin").write_bytes(bytes(range(256)))
    return made


def asked(question: str, path: Path) -> ResearchAnswer:
    """The answer of the tables and the texts in a folder."""
    given = AskedFiles(read([path]))
    found = of_tables(question, given)
    found = found.model_copy(update={"nowhere": given.nowhere(question)})
    return combined(question, found, of_texts(question, given, found.subjects))
