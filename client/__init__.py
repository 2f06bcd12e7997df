"""The participant's side of the REST API: what `vocboard login`, `submit`, `status`, `results` and `leaderboard` do.

Needs no server installed: only httpx and the light modules of the evaluator.
"""
