"""Heartbeats of workers, for health checks."""
