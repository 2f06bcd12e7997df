"""What organisers do in a year, in a real browser: each action in at most four clicks from the challenge's page."""
