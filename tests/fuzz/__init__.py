"""Coverage-guided fuzzing of everything that reads untrusted bytes: `python -m tests.fuzz --help`."""
