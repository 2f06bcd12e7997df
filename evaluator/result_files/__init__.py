"""Result files: their names, and one parser a format."""
