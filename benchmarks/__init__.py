"""Benchmarks: vocboard next to other libraries and to lower bounds, on synthetic data."""
