"""What organisers do about submissions and people: disqualify, hold back, fail, ban."""
