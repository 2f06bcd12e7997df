"""The participant's side of the REST API: what `vocboard login`, `submit`, `status`, `results` and `leaderboard` do.

It needs only httpx and the parts of the evaluator that load quickly, not the server's packages.
"""
