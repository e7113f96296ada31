"""What leadhand costs, measured. `python -m benchmarks` runs what needs no data from outside."""
