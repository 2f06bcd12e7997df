"""Version of the readers, which distinguishes their columns from columns of earlier readers."""

# Raise it when a reader of result files makes other columns of the same archive, or the file's layout changes.
READER_VERSION = 1
