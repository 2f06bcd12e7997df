"""E-mail: written into a table with what it announces, sent by a worker."""
