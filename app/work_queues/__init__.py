"""The database as the queue of every kind of work: rows that workers claim, hold under a lease, and finish."""
