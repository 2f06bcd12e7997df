"""Reading results: an archive or directory of result files, or arrays, with all problems that they have."""
