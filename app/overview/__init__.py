"""What organisers see of a whole challenge: its submissions, entrants and queue."""
