"""Workers: what turns a function, an agent or a model into a `Runner`. Nothing here knows plans,
other workers or the scheduler."""
