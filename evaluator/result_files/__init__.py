"""Result files: their names, and a parser for each format."""
