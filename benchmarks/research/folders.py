"""The 15 folders: tables, notes, PDFs and mixtures, and 80 questions, 15 without an answer.

Written before the team that answers them, from what its issue asks for; they are not changed.
"""

from benchmarks.research.first_folders import cities, energy, german, leases, orders, shop, staff
from benchmarks.research.second_folders import (
    clinics,
    fleet,
    minutes,
    report,
    school,
    startup,
    tickets,
    travel,
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
