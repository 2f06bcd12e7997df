"""File storage: archives of submissions, and encrypted uploads of ground truth."""
