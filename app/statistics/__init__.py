"""Statistics of leaderboards: the queue of boards whose statistics workers compute, and what the web shows of them."""
