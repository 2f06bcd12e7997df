"""Benchmarks: what our work costs next to peers and to physical floors, on data of their own making."""
