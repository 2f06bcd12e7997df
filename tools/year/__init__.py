"""The pictures of docs/a-year.md: a server, a challenge's year in a real browser, and a picture of each step."""
