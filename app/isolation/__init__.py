"""Confinement of processes that read untrusted input."""
