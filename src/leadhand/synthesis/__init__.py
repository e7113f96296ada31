"""Makes one answer of the results of many tasks, without knowing how they were dispatched."""
