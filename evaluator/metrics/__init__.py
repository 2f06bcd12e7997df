"""Metrics, computed from arrays, independent of tasks, files and editions."""
