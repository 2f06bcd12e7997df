"""How many submissions a person may make. What organisers choose of it is in `app.challenges.rules`."""
