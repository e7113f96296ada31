"""Models: choosing, connecting and calling them, with rates, budgets and a record of every call."""
