"""Attempts to upload: who may begin one, how fast it must arrive, and what it counts against."""
