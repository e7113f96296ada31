"""The engine: the one loop that starts and stops concurrent work, and what it is made of.

It sees ports alone: who works, who knows a remedy, where events are kept and what time it is are
not its business. `scheduler` is the way in.
"""
