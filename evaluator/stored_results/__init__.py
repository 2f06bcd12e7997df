"""Results as columns in a file: what an isolated process has read from an archive, for scoring without the archive."""
