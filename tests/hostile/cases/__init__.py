"""What the files of the folder are, and how they are made: one module a subject."""
