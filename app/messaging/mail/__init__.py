"""Email: an outbox table, and its delivery by a worker."""
