"""Lists, reads, searches and cites the files given with `--input`, and no others.

Faults F17, F18 and F23: `opening` decides which bytes may be read, `parsing` isolates hostile
documents, `legible` cleans their text.
"""
