"""Malformed and hostile uploads as files, each with its exact list of problems; see README.md."""
