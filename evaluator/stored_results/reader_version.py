"""What tells columns of today's readers from those of earlier ones."""

# Raise it when a reader of result files makes other columns of the same archive, or the file's layout changes.
READER_VERSION = 1
