"""One run, step by step, and the runs of a supervisor. A run always gives an answer: if a planner
or a synthesizer fails, code does its work."""
