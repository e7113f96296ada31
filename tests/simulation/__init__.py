"""A simulation of whole runs: seeded, in virtual time, with workers that do everything wrong.

A seed makes a scenario, and a scenario makes the same run every time. Whatever it is, what a run
promises must hold at its end: `promises` says what that is.

    python -m tests.simulation --seeds 5000        # many
    python -m tests.simulation --seed 123          # one, with its events
"""
