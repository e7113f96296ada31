"""Everything that makes one run: `run.run.Execution` starts it, plans, works and answers.

Each step records events and stops at the run's deadline. A run always gives an answer: if a planner
or a synthesizer fails, code does its work.
"""
