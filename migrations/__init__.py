"""vocboard's migrations package."""
