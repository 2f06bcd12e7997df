"""How many submissions a person may make, per competition or ground truth, in a rolling period.

The rule is `app.quotas.rule`; organisers choose its numbers: `app.challenges.rules`. Two other limits have packages of
their own: `app.intake.limits` limits attempts, bytes and concurrency of uploads, before a body is read;
`app.rate_limits` limits sign-in, registration and invitations.
"""
