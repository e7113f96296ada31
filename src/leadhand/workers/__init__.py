"""Workers: what turns a function into a `Runner`, in the event loop, a thread or a process.

Nothing here knows plans, other workers or the scheduler.
"""
