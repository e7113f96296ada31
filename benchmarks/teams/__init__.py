"""Measures the ready-made teams on public data with answers of others."""
