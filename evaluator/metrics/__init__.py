"""Metrics: arrays in, numbers out; they know no task, no file and no edition."""
