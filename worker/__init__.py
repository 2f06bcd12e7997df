"""vocboard's worker package."""
