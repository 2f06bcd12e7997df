"""Coverage-guided fuzzing of everything that reads bytes from strangers: `python -m tests.fuzz --help`."""
