"""Teams, which own methods and submissions; `app.participating.teams` changes them."""
