"""Rate limits of sign-in, registration, mail and invitations. Those of uploads are in `app.intake.limits`."""
