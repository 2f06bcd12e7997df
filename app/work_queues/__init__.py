"""Work queues in the database: rows that workers claim with a lease."""
